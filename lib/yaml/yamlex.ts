/**
 * YAML as Salt's `yamlex` reads it: YAML in which a key may come again. The last value counts, but maps are merged
 * where both have the key, and values tagged `!aggregate` are joined: lists with lists, maps with maps. `!reset` before
 * a key forgets the values before it.
 *
 * Differs from Salt: dates stay text; of two lists without a tag the last one counts (Salt's becomes empty, since it
 * copies the list before it has read it). Source: Salt 3008.3, `salt/serializers/yamlex.py`,
 * `salt/utils/aggregation.py`; tests/corpus/yamlex.json.
 * @module
 */

import type { YamlError } from "#lib/errors.ts";
import { joinAggregates, type Joining, markAggregate } from "#lib/values/aggregate.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { int, isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { composeYaml, type MappingNode, type ScalarNode, YAML_TAG, type YamlNode } from "./nodes.ts";
import { type Offsets, YamlPlaces } from "./load.ts";
import { scalarType, scalarValue } from "./scalar.ts";
import { YamlSource } from "./source.ts";

const AGGREGATE = "!aggregate", RESET = "!reset";

/** Maximum number of pairs that merging by `<<` may copy in one document. */
const MAX_MERGED_PAIRS = 100_000;

/**
 * Reads the one document in `text`, with the places of its keys; None if it is empty.
 * @param file The name of the source in errors.
 * @throws {YamlError} If Salt's loader would refuse it.
 */
export function loadYamlex(text: string, file: string): { readonly value: Value; readonly places: YamlPlaces } {
  const source = new YamlSource(text, file);
  const root = composeYaml(source);
  const constructor = new YamlexConstructor(source);
  const value = root === undefined ? null : constructor.value(root);
  return { value, places: new YamlPlaces(source, (made) => constructor.offsets(made)) };
}

class YamlexConstructor {
  /** The offsets of keys and items, by their map or list. */
  readonly #starts = new Map<Value, Map<Value, number>>();
  /** The offset of the key that a map or list is under. */
  readonly #holders = new Map<Value, number>();
  readonly #source: YamlSource;
  readonly #made = new Map<YamlNode, Value>();
  /** The maps that are being read: a map cannot contain itself. */
  readonly #open = new Set<YamlNode>();
  #mergedPairs = 0;

  constructor(source: YamlSource) {
    this.#source = source;
  }

  /** The offsets of a map or list that was read. */
  offsets(made: Value): Offsets | undefined {
    const of = this.#starts.get(made);
    return of && { of, holder: this.#holders.get(made) };
  }

  value(node: YamlNode): Value {
    const made = this.#made.get(node);
    if (made !== undefined) return made;
    const value = this.#construct(node);
    this.#made.set(node, value);
    return value;
  }

  #construct(node: YamlNode): Value {
    if (node.tag === AGGREGATE) return this.#aggregate(this.#construct(removeTag(node)), node);
    if (node.tag === RESET) return this.#construct(removeTag(node));
    switch (node.tag) {
      case `${YAML_TAG}map`:
      case `${YAML_TAG}omap`:
        return this.#map(this.#mapping(node));
      case `${YAML_TAG}set`:
        return [...this.#map(this.#mapping(node)).keys()];
      case `${YAML_TAG}seq`:
        return this.#list(node);
      case `${YAML_TAG}pairs`:
        return this.#pairs(node);
      default:
        return this.#scalar(node);
    }
  }

  #mapping(node: YamlNode): MappingNode {
    if (node.kind === "mapping") return node;
    throw this.#error(`expected a mapping node, but found ${node.kind}`, node);
  }

  #list(node: YamlNode): Value {
    if (node.kind !== "sequence") throw this.#error(`expected a sequence node, but found ${node.kind}`, node);
    const items: Value[] = [];
    // Registered before it is filled: an alias within it refers to the list itself.
    this.#made.set(node, items);
    for (const item of node.items) items.push(this.value(item));
    this.#starts.set(items, new Map(node.items.map((item, i) => [i, item.start])));
    return items;
  }

  #pairs(node: YamlNode): Value {
    const within = { words: "while constructing pairs", node };
    if (node.kind !== "sequence") throw this.#error(`expected a sequence, but found ${node.kind}`, node, within);
    return node.items.map((item) => {
      if (item.kind !== "mapping") {
        throw this.#error(`expected a mapping of length 1, but found ${item.kind}`, item, within);
      }
      if (item.pairs.length !== 1) {
        throw this.#error(`expected a single mapping item, but found ${item.pairs.length} items`, item, within);
      }
      const [key, value] = item.pairs[0];
      return new Tuple([this.value(key), this.value(value)]);
    });
  }

  #map(node: MappingNode): ValueMap {
    if (this.#open.has(node)) throw this.#error("found unconstructable recursive node", node);
    this.#open.add(node);
    const map: ValueMap = new Map();
    const starts = new Map<Value, number>();
    this.#starts.set(map, starts);
    for (const [keyNode, valueNode] of this.#flattened(node)) {
      const key = this.#key(keyNode, node);
      // The tag belongs to the value, at any position.
      const value = keyNode.tag === AGGREGATE
        ? this.#aggregate(this.value(valueNode), valueNode)
        : this.value(valueNode);
      const before = map.get(key);
      const joined = before === undefined || keyNode.tag === RESET
        ? value
        : joinAggregates(before, value, (joining) => this.#place(joining));
      map.set(key, joined);
      this.#holders.set(joined, keyNode.start);
      starts.set(key, keyNode.start);
    }
    this.#open.delete(node);
    return map;
  }

  #key(node: YamlNode, mapping: MappingNode): Value {
    if (node.kind === "scalar") return node.tag === `${YAML_TAG}value` ? node.text : this.value(untaggedKey(node));
    const error = this.#source.error(`a key must be a scalar, but this is a ${node.kind}`, node.start);
    error.salt = `While constructing a mapping ${this.#mark(mapping)} found unacceptable key ${this.#mark(node)}`;
    throw error;
  }

  /** The pairs of the maps that `<<` names, and the node's own. */
  #flattened(node: MappingNode): MappingNode["pairs"] {
    const isMerge = ([key]: MappingNode["pairs"][number]) => key.tag === `${YAML_TAG}merge`;
    if (!node.pairs.some(isMerge)) return node.pairs;
    const merges = node.pairs.filter(isMerge);
    node.pairs = node.pairs.filter((pair) => !isMerge(pair));
    const merged: MappingNode["pairs"] = [];
    for (const [, value] of merges) {
      for (const source of value.kind === "sequence" ? [...value.items].reverse() : [value]) {
        if (source.kind !== "mapping") {
          const wanted = value.kind === "sequence" ? "a mapping" : "a mapping or list of mappings";
          const within = { words: "while constructing a mapping", node };
          throw this.#error(`expected ${wanted} for merging, but found ${source.kind}`, source, within);
        }
        const pairs = this.#flattened(source);
        this.#mergedPairs += pairs.length;
        if (this.#mergedPairs > MAX_MERGED_PAIRS) {
          throw this.#error(`merging brings more than ${MAX_MERGED_PAIRS} pairs`, node);
        }
        merged.push(...pairs);
      }
    }
    node.pairs = [...merged, ...node.pairs];
    return node.pairs;
  }

  #scalar(node: YamlNode): Value {
    if (node.kind !== "scalar" || [`${YAML_TAG}value`, `${YAML_TAG}merge`].includes(node.tag)) {
      throw this.#unknown(node);
    }
    const type = node.tag.startsWith(YAML_TAG) ? node.tag.slice(YAML_TAG.length) : "";
    if (type === "int") return this.#int(node);
    const value = scalarValue(type, node.text);
    if (value === undefined) throw this.#unknown(node);
    return value;
  }

  /** Python's `int`: decimal alone, after the leading zeros are gone. */
  #int({ text, start }: ScalarNode): Value {
    const digits = /^0(?![bx])/.test(text) && text !== "0" ? text.replace(/^0+/, "") || "0" : text;
    if (/^[-+]?[0-9]+(?:_[0-9]+)*$/.test(digits)) return int(BigInt(digits.replaceAll("_", "").replace("+", "")));
    const error = this.#source.error(`"${text}" is no decimal number`, start);
    error.salt = `invalid literal for int() with base 10: '${digits}'`;
    throw error;
  }

  /** Marks a value as one that is joined with others of its key. A single one becomes a list. */
  #aggregate(value: Value, node: YamlNode): Value {
    // A list that is part of a value elsewhere is not marked there.
    const marked = isMap(value)
      ? this.#copied(value)
      : Array.isArray(value)
      ? [...value]
      : value === null
      ? []
      : [value];
    const starts = Array.isArray(value) || isMap(value) ? this.#starts.get(value) : new Map([[0, node.start]]);
    if (starts !== undefined) this.#starts.set(marked, new Map(starts));
    return markAggregate(marked);
  }

  /** Notes where the keys or items of a joined value stand. */
  #place({ joined, base, second, appended }: Joining): void {
    const starts = new Map(this.#starts.get(base));
    const added = this.#starts.get(second) ?? new Map<Value, number>();
    if (isMap(joined)) { for (const [key, start] of added) starts.set(key, start); }
    const length = Array.isArray(base) ? base.length : 0;
    for (const [place, i] of appended.entries()) {
      const start = added.get(i);
      if (start !== undefined) starts.set(length + place, start);
    }
    this.#starts.set(joined, starts);
  }

  #copied(map: ValueMap): ValueMap {
    const copy = new Map(map);
    this.#starts.set(copy, new Map(this.#starts.get(map)));
    return copy;
  }

  #unknown(node: YamlNode): YamlError {
    return this.#error(`could not determine a constructor for the tag '${node.tag}'`, node);
  }

  /** PyYAML's words, and the place; before them those of what is being read, and its place if it is another one. */
  #error(words: string, node: YamlNode, within?: { readonly words: string; readonly node: YamlNode }): YamlError {
    const error = this.#source.error(words, node.start);
    const place = within === undefined || within.node.start === node.start ? [] : [this.#mark(within.node)];
    error.salt = [...within === undefined ? [] : [within.words], ...place, words, this.#mark(node)].join("\n");
    return error;
  }

  #mark(node: YamlNode): string {
    const { line, column } = this.#source.place(node.start);
    return `  in "<unicode string>", line ${line}, column ${column}`;
  }
}

/** The node without its tag. */
function removeTag(node: YamlNode): YamlNode {
  if (node.kind === "mapping") return { ...node, tag: `${YAML_TAG}map` };
  if (node.kind === "sequence") return { ...node, tag: `${YAML_TAG}seq` };
  return { ...node, tag: YAML_TAG + scalarType(node.text) };
}

function untaggedKey(node: ScalarNode): YamlNode {
  return node.tag === AGGREGATE || node.tag === RESET ? removeTag(node) : node;
}
