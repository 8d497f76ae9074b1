/**
 * Parses a YAML document into a tree of nodes: js-yaml's parser events with tags, anchors and positions resolved. An
 * alias is the same node object as its anchor, so the tree may share nodes and contain itself. The number of values
 * that aliases stand for is limited. Knows only the syntax; load.ts interprets tags and checks maps. Source: js-yaml 5
 * (`parseEvents`); PyYAML's composer and libyaml's limits for what Salt refuses beyond it.
 * @module
 */

import {
  COLLECTION_STYLE,
  type Event,
  EVENT_ID,
  getScalarValue,
  type MappingEvent,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
  YAMLException,
} from "js-yaml";
import { scalarType } from "./scalar.ts";
import type { YamlSource } from "./source.ts";

/** Fields of every node. */
export interface NodeBase {
  /** The full tag, `tag:yaml.org,2002:int` or `!own`: from the document, or from the type of the text. */
  readonly tag: string;
  /** Offset of the node in the source, its anchor and tag included. */
  readonly start: number;
}

/** A scalar; quotes, folding and escapes of its text are resolved. */
export interface ScalarNode extends NodeBase {
  readonly kind: "scalar";
  readonly text: string;
}

export interface SequenceNode extends NodeBase {
  readonly kind: "sequence";
  readonly items: YamlNode[];
}

export interface MappingNode extends NodeBase {
  readonly kind: "mapping";
  /** In the order of the source, until merging replaces them. */
  pairs: [key: YamlNode, value: YamlNode][];
}

/** Any node of the tree. */
export type YamlNode = ScalarNode | SequenceNode | MappingNode;

/** Prefix of the tags of YAML's own types. */
export const YAML_TAG = "tag:yaml.org,2002:";

/** Maximum nesting of nodes: deeper ones are refused before a stack overflows, here or in code that reads the value. */
const MAX_DEPTH = 200;
/** How many colons before an error are tried as the ends of names: each is another parse. */
const MAX_TRIED = 3;
/** What may stand before an anchor that a colon ends: nothing but the begin of a block or flow entry. */
const BEFORE_KEY = /(?:^[ ]*(?:- +)*|[[{,] *)$/;

/**
 * Maximum number of values that the aliases of a document stand for, as often as they occur. Aliases share one object,
 * but what prints, encodes or copies the value goes through it once for each of them: nine lines of 40 characters stand
 * for 9 ** 9 values.
 */
export const MAX_ALIASED = {
  /** Of a file: SLS, pillar, options. */
  file: 1_000_000,
  /** Of an argument that a user or a minion typed. */
  argument: 100_000,
} as const;

/** A text counts as one value for each part of this length, in characters. */
const COUNTED_TEXT = 64;

/** libyaml searches at most this many characters for the colon after a key. */
const MAX_KEY_LENGTH = 1024;

// Everything that YAML's reader refuses: a negated set of the allowed characters.
const UNACCEPTABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/**
 * The root node of the one document in `source`; `undefined` if it is empty.
 * @param maxAliased Maximum number of values that its aliases stand for.
 * @throws {YamlError} If it is not YAML, has more than one document, or exceeds the limits of this file.
 */
export function composeYaml(source: YamlSource, maxAliased: number = MAX_ALIASED.file): YamlNode | undefined {
  const bad = UNACCEPTABLE.exec(source.text);
  if (bad !== null) {
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const error = source.error(`the control character U+${code} is not allowed`, bad.index);
    const position = new TextEncoder().encode(source.text.slice(0, bad.index)).length;
    error.salt = `unacceptable character #x${code.toLowerCase()}: control characters are not allowed\n` +
      `  in "<unicode string>", position ${position}`;
    throw error;
  }
  const end = /^(?:[ \t]*(?:#.*)?(?:\r\n?|\n))*\.\.\.(?!\S)/.exec(source.text);
  if (end !== null) throw source.error("a document ends here that was not begun", end[0].length - 3);
  const events = parse(source);
  return events.length === 0 ? undefined : new Composer(source, events, maxAliased).document();
}

function parse(source: YamlSource): Event[] {
  while (true) {
    try {
      const events = parseEvents(source.text, { maxDepth: MAX_DEPTH });
      const colons = colonsInAnchors(events, source.text);
      // From the last one, so that the offsets of the others stay.
      if (colons.length === 0 || !colons.reverse().every((colon) => source.separate(colon))) return events;
    } catch (error) {
      if (!(error instanceof YAMLException) || error.mark === undefined) throw error;
      const colon = colonBefore(error.mark.position, source.text);
      if (colon !== undefined && source.separate(colon)) continue;
      // Inside brackets or quotes libyaml lets a line begin anywhere, often with a "]" in the first column; js-yaml
      // does not. Leading spaces mean nothing there, so the line gets more of them.
      if (error.reason === "deficient indentation" && source.indent(error.mark.position)) continue;
      const tooDeep = error.reason.startsWith("nesting exceeded");
      throw source.error(tooDeep ? `nested deeper than ${MAX_DEPTH} levels` : error.reason, error.mark.position);
    }
  }
}

/** The offsets of colons in the names of anchors and aliases: libyaml's names end there, js-yaml's do not. */
function colonsInAnchors(events: readonly Event[], text: string): number[] {
  const colons: number[] = [];
  // Few of many thousand events have an anchor.
  for (const event of events) {
    if (!("anchorStart" in event) || event.anchorStart < 0) continue;
    const name = /^[A-Za-z0-9_-]+(?=:)/.exec(text.slice(event.anchorStart, event.anchorEnd));
    const line = text.slice(Math.max(0, event.anchorStart - 1_000), event.anchorStart - 1).split(/[\r\n]/).at(-1) ?? "";
    if (name !== null && BEFORE_KEY.test(line)) colons.push(event.anchorStart + name[0].length);
  }
  return colons;
}

/**
 * The offset of the last colon before `offset` that ends the name of an anchor or alias, if separating it mends the
 * text.
 */
function colonBefore(offset: number, text: string): number | undefined {
  const names = [...text.slice(0, offset).matchAll(/(?<=^[ ]*(?:- +)*|[[{,] *)[&*][A-Za-z0-9_-]+(?=:\s)/gm)];
  return names.slice(-MAX_TRIED).reverse().map(({ index, 0: name }) => index + name.length)
    .find((at) => parsesFurther(`${text.slice(0, at)} ${text.slice(at)}`, offset));
}

/** Whether the last character before `start` that is no white space is `?`, and there is white space between. */
function followsQuestionMark(text: string, start: number): boolean {
  let end = start;
  while (end > 0 && /\s/.test(text[end - 1])) end--;
  return end < start && text[end - 1] === "?";
}

/** Whether a text can be parsed, or at least beyond `offset`. */
function parsesFurther(text: string, offset: number): boolean {
  try {
    parseEvents(text, { maxDepth: MAX_DEPTH });
    return true;
  } catch (error) {
    return error instanceof YAMLException && (error.mark?.position ?? 0) > offset + 1;
  }
}

class Composer {
  readonly #source: YamlSource;
  readonly #events: Event[];
  readonly #anchors = new Map<string, Anchored>();
  readonly #tagPrefixes = new Map([["!", "!"], ["!!", YAML_TAG]]);
  #at = 0;
  /** Number of open brackets. */
  #flow = 0;
  /** Position of the last event that has one: the best known position of an empty scalar. */
  #position = 0;
  /** Number of values so far, and of those that aliases stand for. */
  #values = 0;
  #aliased = 0;

  constructor(source: YamlSource, events: Event[], readonly maxAliased: number) {
    this.#source = source;
    this.#events = events;
  }

  document(): YamlNode {
    const event = this.#next();
    if (event.type === EVENT_ID.DOCUMENT) {
      for (const directive of event.directives) {
        if (directive.kind === "tag") this.#tagPrefixes.set(directive.handle, directive.prefix);
      }
    }
    const root = this.#node();
    this.#next(); // the end of the document
    if (this.#at < this.#events.length) this.#refuseSecondDocument();
    return root;
  }

  #next(): Event {
    return this.#events[this.#at++];
  }

  #node(): YamlNode {
    const event = this.#next();
    if (event.type === EVENT_ID.ALIAS) return this.#alias(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) {
      throw this.#source.error("the parser lost its way", this.#position);
    }
    const start = this.#start(event);
    this.#position = start;
    if (this.#flow === 0) this.#refuseTab(start);
    if (event.type === EVENT_ID.SCALAR) {
      const text = this.#text(event);
      const node: ScalarNode = { kind: "scalar", tag: this.#scalarTag(event, text, start), text, start };
      const count = 1 + Math.floor(text.length / COUNTED_TEXT);
      this.#values += count;
      const anchored = this.#anchor(event, node);
      if (anchored !== undefined) anchored.count = count;
      this.#position = Math.max(start, event.valueEnd);
      return node;
    }
    const flow = event.style === COLLECTION_STYLE.FLOW ? 1 : 0;
    this.#flow += flow;
    const node = event.type === EVENT_ID.SEQUENCE ? this.#sequence(event, start) : this.#mapping(event, start);
    this.#flow -= flow;
    return node;
  }

  #sequence(event: Properties, start: number): SequenceNode {
    const node: SequenceNode = { kind: "sequence", tag: this.#tag(event, start) ?? `${YAML_TAG}seq`, items: [], start };
    const before = this.#values++;
    const anchored = this.#anchor(event, node);
    while (this.#inside()) node.items.push(this.#node());
    if (anchored !== undefined) anchored.count = this.#values - before;
    return node;
  }

  #mapping(event: MappingEvent, start: number): MappingNode {
    const node: MappingNode = { kind: "mapping", tag: this.#tag(event, start) ?? `${YAML_TAG}map`, pairs: [], start };
    const before = this.#values++;
    const anchored = this.#anchor(event, node);
    const key = this.#events[this.#at];
    if (key.type === EVENT_ID.SCALAR && key.valueStart < 0 && this.#source.text[event.start] === ":") {
      // js-yaml takes this for an empty key; YAML requires a question mark before one.
      throw this.#source.error("a colon needs a key before it", start);
    }
    while (this.#inside()) {
      const key = this.#key();
      node.pairs.push([key, this.#node()]);
    }
    if (anchored !== undefined) anchored.count = this.#values - before;
    return node;
  }

  #text(event: ScalarEvent): string {
    const source = this.#source.text;
    const text = getScalarValue(source, event);
    // js-yaml ends a block scalar with a line break even if the file ends without one.
    const block = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
    return block && event.valueEnd >= source.length && !/[\r\n]$/.test(source) ? text.replace(/\n$/, "") : text;
  }

  /** Whether the current collection continues; consumes its end if not. */
  #inside(): boolean {
    if (this.#events[this.#at].type !== EVENT_ID.POP) return true;
    this.#at++;
    return false;
  }

  #key(): YamlNode {
    const { text } = this.#source;
    const event = this.#events[this.#at];
    if (event.type !== EVENT_ID.SCALAR) return this.#node();
    const key = this.#node();
    if (event.valueEnd - key.start <= MAX_KEY_LENGTH || followsQuestionMark(text, key.start)) return key;
    throw this.#source.error(`a key of more than ${MAX_KEY_LENGTH} characters needs "? " before it`, key.start);
  }

  /** Refuses a tab where a block may begin: js-yaml takes some of them for separating space. */
  #refuseTab(start: number): void {
    const { text } = this.#source;
    let lead = start;
    while (text[lead - 1] === " " || text[lead - 1] === "\t") lead--;
    const tab = text.slice(lead, start).indexOf("\t");
    if (tab >= 0 && (lead === 0 || "\r\n-?".includes(text[lead - 1]))) {
      throw this.#source.error("a tab cannot indent", lead + tab);
    }
  }

  /** The name of an anchor: letters, digits, "_" and "-", as in libyaml. */
  #name(start: number, end: number): string {
    const name = this.#source.text.slice(start, end);
    if (/^[A-Za-z0-9_-]+$/.test(name)) return name;
    throw this.#source.error(`the anchor "${name}" may have letters, digits, "_" and "-" only`, start - 1);
  }

  #alias(start: number, end: number): YamlNode {
    this.#position = start - 1;
    const name = this.#name(start, end);
    const anchored = this.#anchors.get(name);
    if (anchored === undefined) throw this.#source.error(`nothing has the anchor "${name}"`, start - 1);
    this.#values += anchored.count;
    this.#aliased += anchored.count;
    if (this.#aliased > this.maxAliased) {
      throw this.#source.error(`the aliases stand for more than ${this.maxAliased} values`, start - 1);
    }
    return anchored.node;
  }

  #anchor(event: Properties, node: YamlNode): Anchored | undefined {
    if (event.anchorStart < 0) return undefined;
    const name = this.#name(event.anchorStart, event.anchorEnd);
    if (this.#anchors.has(name)) throw this.#source.error(`the anchor "${name}" is given twice`, node.start);
    const anchored: Anchored = { node, count: 1 };
    this.#anchors.set(name, anchored);
    return anchored;
  }

  #scalarTag(event: ScalarEvent, text: string, start: number): string {
    const raw = this.#source.text.slice(Math.max(0, event.tagStart), Math.max(0, event.tagEnd));
    // A lone "!" makes even a quoted scalar typed by its text; in libyaml too, against the specification.
    const implicit = raw === "" ? event.style === SCALAR_STYLE.PLAIN : raw === "!" && text !== "";
    return this.#tag(event, start) ?? YAML_TAG + (implicit ? scalarType(text) : "str");
  }

  /** The full tag that the document gives; `undefined` if it gives none, or only `!`. */
  #tag(event: Properties, start: number): string | undefined {
    const raw = this.#source.text.slice(Math.max(0, event.tagStart), Math.max(0, event.tagEnd));
    if (raw === "" || raw === "!") return undefined;
    try {
      if (raw.startsWith("!<")) return decodeURIComponent(raw.slice(2, -1));
      const handle = /^!(?:[\w-]*!)?/.exec(raw)?.[0] ?? "!";
      return (this.#tagPrefixes.get(handle) ?? handle) + decodeURIComponent(raw.slice(handle.length));
    } catch {
      throw this.#source.error(`the tag ${raw} is not valid`, start);
    }
  }

  /** Offset of the node of `event`, its anchor and tag included. */
  #start(event: ScalarEvent | SequenceEvent | MappingEvent): number {
    const starts = event.type === EVENT_ID.SCALAR ? [this.#scalarStart(event)] : [event.start];
    if (event.anchorStart >= 0) starts.push(event.anchorStart - 1);
    if (event.tagStart >= 0) starts.push(event.tagStart);
    const marked = starts.filter((start) => start >= 0);
    return marked.length === 0 ? this.#position : Math.min(...marked);
  }

  #scalarStart(event: ScalarEvent): number {
    // A quoted scalar's value begins after the quote, a block scalar's on the line after its header.
    return event.style === SCALAR_STYLE.PLAIN ? event.valueStart : event.valueStart - 1;
  }

  #refuseSecondDocument(): never {
    const { text } = this.#source;
    const first = this.#events[0];
    const second = this.#next();
    let offset = -1;
    if (second.type === EVENT_ID.DOCUMENT && second.explicitStart) {
      const marker = /^---(?!\S)/gm;
      if (first.type === EVENT_ID.DOCUMENT && first.explicitStart) marker.test(text);
      marker.lastIndex = Math.max(marker.lastIndex, this.#position);
      offset = marker.exec(text)?.index ?? -1;
    }
    if (offset < 0) {
      this.#anchors.clear();
      offset = this.#node().start;
    }
    throw this.#source.error("a second document begins here; only one is allowed", offset);
  }
}

/** A node with an anchor. */
interface Anchored {
  readonly node: YamlNode;
  /**
   * Number of values that an alias of it stands for; 1 inside of it, where an alias stands for a value that contains
   * itself.
   */
  count: number;
}

/** The anchor and tag fields of js-yaml's node events; -1 if there is none. */
interface Properties {
  readonly anchorStart: number;
  readonly anchorEnd: number;
  readonly tagStart: number;
  readonly tagEnd: number;
}
