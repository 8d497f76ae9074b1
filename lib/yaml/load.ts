/**
 * YAML as Salt's loader reads it (PyYAML's YAML 1.1, with Salt's rules): configuration, SLS files, command-line
 * arguments. Dates stay text, `0644` is 644, keys must be scalars and may not occur twice (`1` and `0x1` are equal
 * too), `!!set` is a set, `!!omap` is a map, `!!pairs` a list of tuples. A recursive alias gives a
 * value that contains itself; encoders refuse such a value.
 *
 * Differs from Salt: U+0085, U+2028 and U+2029 are no line breaks, and some malformed documents that libyaml refuses
 * are accepted (`--- x` after spaces, a block scalar as the whole document in the first column, tabs after a line
 * break).
 * Source: salt/utils/yamlloader.py; tests/corpus/yaml.json holds its results for difficult documents.
 * @module
 */

import type { Place, YamlError } from "#lib/errors.ts";
import { Tuple, ValueSet } from "#lib/values/tuple.ts";
import { equals, Float, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { readBlocks } from "./block.ts";
import { plainMapping } from "./plain.ts";
import { composeYaml, type MappingNode, MAX_ALIASED, YAML_TAG, type YamlNode } from "./nodes.ts";
import { resolvePlainScalar, scalarValue } from "./scalar.ts";
import { YamlSource } from "./source.ts";

/**
 * Maximum number of pairs that merging may copy in one document: far above any real one, and low enough to prevent
 * denial of service.
 */
const MAX_MERGED_PAIRS = 100_000;

/** A whole document that is one plain scalar without any YAML indicator: most command-line arguments. */
const PLAIN_WORD = /^[A-Za-z0-9_][A-Za-z0-9_./+-]*$/;

/** Options of {@linkcode loadYaml}. */
export interface LoadYamlOptions {
  /** Maximum number of values that its aliases may stand for. Default: 1,000,000. */
  readonly maxAliased?: number;
}

/**
 * Reads the one YAML document in `text`; None if it is empty.
 * @param file The name of the source in errors.
 * @throws {YamlError} If Salt's loader would refuse it, collections are nested more than 200 deep, or its aliases stand
 * for too many values.
 */
export function loadYaml(
  text: string,
  file = "<string>",
  { maxAliased = MAX_ALIASED.file }: LoadYamlOptions = {},
): Value {
  if (PLAIN_WORD.test(text)) {
    const value = resolvePlainScalar(text);
    if (value !== undefined) return value;
  }
  const blocks = readBlocks(text);
  if (blocks !== undefined) return blocks.value;
  const source = new YamlSource(text, file);
  const root = composeYaml(source, maxAliased);
  return root === undefined ? null : new Constructor(source).value(root);
}

/** A place in a text. */
export type TextPlace = Required<Omit<Place, "file">>;

/** The positions of the keys and items of a document, looked up by the map or list object in the document's value. */
export class YamlPlaces {
  readonly #source: YamlSource;
  readonly #offsetsOf: (container: Value) => Offsets | undefined;

  /** @param offsetsOf The offsets of a map or list of the document. */
  constructor(source: YamlSource, offsetsOf: (container: Value) => Offsets | undefined) {
    this.#source = source;
    this.#offsetsOf = offsetsOf;
  }

  /** The place of a key of a map, or of an item of a list by its index; `undefined` if that is not of this document. */
  of(container: ValueMap | readonly Value[], key: Value): TextPlace | undefined {
    // A readonly list is compared by identity alone.
    return this.#place(this.#offsetsOf(container as Value)?.of.get(key));
  }

  /** The place of the key that a map or list of this document is under; `undefined` if it is in a list. */
  holder(container: ValueMap | readonly Value[]): TextPlace | undefined {
    return this.#place(this.#offsetsOf(container as Value)?.holder);
  }

  #place(offset: number | undefined): TextPlace | undefined {
    return offset === undefined ? undefined : this.#source.place(offset);
  }
}

/**
 * The offsets of a document. They are rarely needed: then the document is read again, and its parts are recorded.
 * @param containers Its maps and lists in the order in which they were made.
 */
function lazyOffsets(source: YamlSource, containers: readonly Value[]): (container: Value) => Offsets | undefined {
  let numbers: ReadonlyMap<Value, number> | undefined;
  let offsets: readonly (Offsets | undefined)[] | undefined;
  return (container) => {
    numbers ??= new Map(containers.map((made, i) => [made, i]));
    const number = numbers.get(container);
    if (number === undefined) return undefined;
    offsets ??= readOffsets(source);
    return offsets[number];
  };
}

function readOffsets(source: YamlSource): (Offsets | undefined)[] {
  const root = composeYaml(source);
  const made: Value[] = [], offsets = new Map<Value, Offsets>();
  if (root !== undefined) new Constructor(source, { made, offsets }).value(root);
  return made.map((container) => offsets.get(container));
}

/** Offsets in a text: of the keys of a map or the items of a list, and of the key that it is under. */
export interface Offsets {
  readonly of: Map<Value, number>;
  holder?: number;
}

/**
 * As {@linkcode loadYaml}, with the places of keys and items.
 * @throws {YamlError} As {@linkcode loadYaml}.
 */
export function loadYamlPlaces(text: string, file: string): { readonly value: Value; readonly places: YamlPlaces } {
  const source = new YamlSource(text, file);
  const blocks = readBlocks(text);
  if (blocks !== undefined) {
    return { value: blocks.value, places: new YamlPlaces(source, lazyOffsets(source, blocks.containers)) };
  }
  const root = composeYaml(source);
  const made: Value[] = [];
  const value = root === undefined ? null : new Constructor(source, { made }).value(root);
  return { value, places: new YamlPlaces(source, lazyOffsets(source, made)) };
}

/**
 * Reads a configuration file's text: its mapping, and the line (from 1) of each top-level key. An empty document is an
 * empty mapping.
 * @throws {YamlError} As {@linkcode loadYaml}, and if the document is not a mapping or contains itself.
 */
export function loadYamlMapping(text: string, file: string): { value: ValueMap; lines: Map<string, number> } {
  const plain = plainMapping(text);
  if (plain !== undefined) return plain;
  const source = new YamlSource(text, file);
  const root = composeYaml(source);
  const lines = new Map<string, number>();
  const constructor = new Constructor(source);
  const value = root === undefined ? null : constructor.value(root);
  if (root === undefined || value === null) return { value: new Map(), lines };
  if (!(value instanceof Map) || root.kind !== "mapping") {
    throw source.error(`expected a mapping of options, but found a ${root.kind}`, root.start);
  }
  // A mapping that contains itself is invalid as options, and comparing or printing it would never end.
  if (containsItself(value, new Set())) throw source.error("an alias stands for what contains it", root.start);
  for (const [key] of root.pairs) lines.set(str(constructor.value(key)), source.line(key.start));
  return { value, lines };
}

/**
 * Whether `value` contains itself.
 * @param open The values around it.
 * @param done Values known not to contain themselves, since aliases repeat them.
 */
function containsItself(value: Value, open: Set<Value>, done: Set<Value> = new Set()): boolean {
  if ((!Array.isArray(value) && !(value instanceof Map)) || done.has(value)) return false;
  if (open.has(value)) return true;
  open.add(value);
  for (const item of value.values()) if (containsItself(item, open, done)) return true;
  open.delete(value);
  done.add(value);
  return false;
}

/** The data that are recorded for a document in addition to its value. */
interface Notes {
  /** Takes its maps and lists, in the order in which they are made. */
  readonly made: Value[];
  /** Receives the positions of their keys and items. */
  readonly offsets?: Map<Value, Offsets>;
}

class Constructor {
  readonly #source: YamlSource;
  /** The value of each collection so far, so that an alias gives the same object. */
  readonly #made = new Map<YamlNode, Value>();
  readonly #notes: Notes | undefined;
  #mergedPairs = 0;

  constructor(source: YamlSource, notes?: Notes) {
    this.#source = source;
    this.#notes = notes;
  }

  value(node: YamlNode): Value {
    const value = this.#made.get(node);
    if (value !== undefined) return value;
    const type = node.tag.startsWith(YAML_TAG) ? node.tag.slice(YAML_TAG.length) : "";
    switch (type) {
      case "map":
      // Salt's YAML renderer makes its loader take this for a map, in the whole process.
      case "omap":
      case "set": {
        if (node.kind !== "mapping") throw this.#unexpected("a mapping", node);
        if (type !== "set") return this.#fill(this.#register(node, new Map()), node);
        const members = this.#register(node, new ValueSet<Value>());
        for (const member of this.#fill(new Map(), node).keys()) members.push(member);
        return members;
      }
      case "seq": {
        if (node.kind !== "sequence") throw this.#unexpected("a sequence", node);
        const items = this.#register<Value[]>(node, []);
        const offsets = this.#notes?.offsets?.get(items)?.of;
        for (const item of node.items) {
          offsets?.set(items.length, item.start);
          items.push(this.value(item));
        }
        return items;
      }
      case "pairs":
        return this.#pairs(node);
      default:
        return this.#scalar(node, type);
    }
  }

  #register<T extends Value>(node: YamlNode, value: T): T {
    this.#made.set(node, value);
    this.#notes?.made.push(value);
    this.#notes?.offsets?.set(value, { of: new Map() });
    return value;
  }

  #scalar(node: YamlNode, type: string): Value {
    if (!SCALAR_TYPES.has(type)) {
      const error = this.#error(`the tag ${node.tag.replace(YAML_TAG, "!!")} means nothing here`, node);
      throw this.#inSaltsWords(error, `could not determine a constructor for the tag '${node.tag}'`);
    }
    if (node.kind !== "scalar") throw this.#unexpected("a scalar", node);
    const value = scalarValue(type, node.text);
    if (value !== undefined) return value;
    if (type === "merge" || type === "value") {
      const error = this.#error(`"${node.text}" must be quoted here`, node);
      throw this.#inSaltsWords(error, `could not determine a constructor for the tag '${node.tag}'`);
    }
    throw this.#error(`${JSON.stringify(node.text)} is not of the type ${type}`, node);
  }

  #pairs(node: YamlNode): Value {
    const refuse = (at: YamlNode, problem: string) =>
      this.#inCollection("pairs", node, this.#error(problem, at), problem);
    if (node.kind !== "sequence") throw refuse(node, `expected a sequence, but found ${node.kind}`);
    const pairs = this.#register<Value[]>(node, []);
    for (const item of node.items) {
      if (item.kind !== "mapping") throw refuse(item, `expected a mapping of length 1, but found ${item.kind}`);
      const { length } = item.pairs;
      if (length !== 1) throw refuse(item, `expected a single mapping item, but found ${length} items`);
      const [key, value] = item.pairs[0];
      pairs.push(new Tuple([this.value(key), this.value(value)]));
    }
    return pairs;
  }

  #fill(map: ValueMap, node: MappingNode): ValueMap {
    this.#merge(node);
    const seen = new Set<Value>();
    const offsets = this.#notes?.offsets;
    const starts = offsets?.get(map)?.of;
    for (const [keyNode, valueNode] of node.pairs) {
      if (keyNode.kind !== "scalar") {
        const error = this.#error(`a key must be a scalar, but this is a ${keyNode.kind}`, keyNode);
        throw this.#inCollection("a mapping", node, error, `found unacceptable key ${nodeRepr(keyNode)}`);
      }
      // In YAML 1.1 an equals sign has its own type, except as a key.
      const key = keyNode.tag === `${YAML_TAG}value` ? keyNode.text : this.value(keyNode);
      const identity = keyIdentity(key);
      if (seen.has(identity) || key instanceof Uint8Array && [...seen].some((other) => equals(other, key))) {
        const error = this.#error(`the key ${repr(key)} occurs twice in the same mapping`, keyNode);
        throw this.#inCollection("a mapping", node, error, `found conflicting ID '${str(key)}'`);
      }
      seen.add(identity);
      const value = this.value(valueNode);
      map.set(key, value);
      starts?.set(key, keyNode.start);
      const held = offsets?.get(value);
      if (held !== undefined) held.holder = keyNode.start;
    }
    return map;
  }

  /** Adds the pairs of the `<<` keys before the node's own pairs, which take precedence. */
  #merge(node: MappingNode): void {
    const merges = node.pairs.filter(([key]) => key.tag === `${YAML_TAG}merge`);
    if (merges.length === 0) return;
    // Done first, so that a mapping which merges itself ends.
    node.pairs = node.pairs.filter(([key]) => key.tag !== `${YAML_TAG}merge`);
    const merged: MappingNode["pairs"] = [];
    for (const [, value] of merges) {
      // The first mapping of a list has precedence, so Salt puts it last. A key in two of them is refused later.
      const sources = value.kind === "sequence" ? [...value.items].reverse() : [value];
      for (const source of sources) {
        if (source.kind !== "mapping") {
          const wanted = value.kind === "sequence" ? "a mapping" : "a mapping or list of mappings";
          const error = this.#unexpected("a mapping to merge", source);
          throw this.#inCollection(
            "a mapping",
            node,
            error,
            `expected ${wanted} for merging, but found ${source.kind}`,
          );
        }
        this.#merge(source);
        this.#mergedPairs += source.pairs.length;
        if (this.#mergedPairs > MAX_MERGED_PAIRS) {
          throw this.#error(`merging brings more than ${MAX_MERGED_PAIRS} pairs`, node);
        }
        for (const pair of source.pairs) merged.push(pair);
      }
    }
    // Salt compares the text of the keys here, not their values.
    const own = new Set(node.pairs.map(([key]) => key.kind === "scalar" ? key.text : key));
    node.pairs = [...merged.filter(([key]) => !own.has(key.kind === "scalar" ? key.text : key)), ...node.pairs];
  }

  /** The error with Salt's words for a problem at its place. */
  #inCollection(kind: string, node: YamlNode, error: YamlError, problem: string): YamlError {
    const place = ({ line, column }: TextPlace) => `  in "<unicode string>", line ${line}, column ${column}`;
    const whole = this.#source.place(node.start);
    const same = whole.line === error.line && whole.column === error.column;
    error.salt = `while constructing ${kind}\n${same ? "" : `${place(whole)}\n`}${problem}\n${place(error)}`;
    return error;
  }

  /** An error with Salt's words alone, at its place. */
  #inSaltsWords(error: YamlError, words: string): YamlError {
    error.salt = `${words}\n  in "<unicode string>", line ${error.line}, column ${error.column}`;
    return error;
  }

  #unexpected(expected: string, node: YamlNode): YamlError {
    const error = this.#error(`expected ${expected}, but found a ${node.kind}`, node);
    return this.#inSaltsWords(error, `expected ${expected} node, but found ${node.kind}`);
  }

  #error(problem: string, node: YamlNode): YamlError {
    return this.#source.error(problem, node.start);
  }
}

const SCALAR_TYPES = new Set([
  ...["null", "bool", "int", "float", "timestamp", "merge", "value", "str", "binary", "python/unicode"],
]);

/** How PyYAML prints a node's value in an error: the nodes within it. */
function nodeRepr(node: YamlNode, open: ReadonlySet<YamlNode> = new Set()): string {
  if (open.has(node)) return "[...]";
  const within = new Set([...open, node]);
  const whole = (inner: YamlNode): string => {
    const kind = { scalar: "ScalarNode", sequence: "SequenceNode", mapping: "MappingNode" }[inner.kind];
    return `${kind}(tag=${repr(inner.tag)}, value=${nodeRepr(inner, within)})`;
  };
  if (node.kind === "scalar") return repr(node.text);
  if (node.kind === "sequence") return `[${node.items.map(whole).join(", ")}]`;
  return `[${node.pairs.map(([key, value]) => `(${whole(key)}, ${whole(value)})`).join(", ")}]`;
}

/** The same result for keys that Python takes for equal (`1`, `1.0`, `True`), as far as JavaScript can tell. */
function keyIdentity(key: Value): Value {
  if (typeof key === "boolean") return Number(key);
  if (!(key instanceof Float)) return key;
  return Number.isSafeInteger(key.value) || !Number.isFinite(key.value) ? key.value + 0 : BigInt(key.value);
}
