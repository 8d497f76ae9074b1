/**
 * YAML as Salt writes it with `--out=yaml`: byte for byte PyYAML's safe dumper over libyaml, in block or flow style.
 * Keys are sorted where Python can sort them, a list is in the column of its key, and text is quoted only where YAML
 * 1.1 would read it as something else. Python writes an object that occurs twice as an anchor and aliases; here every
 * occurrence is written out, since values come from the wire. Source: libyaml 0.2.5's emitter (behaviour), PyYAML's
 * representer, salt/utils/yamldumper.py; tests/corpus/yaml_dump.json holds their output.
 * @module
 */

import { countStep } from "#lib/values/stop_word.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { compare, equals, Float, floatRepr, isFloat, type Value, type ValueMap } from "#lib/values/value.ts";
import { isOrdered } from "#lib/values/ordered.ts";
import { scalarType } from "./scalar.ts";
import { isBreak, isPrintable, YamlWriter } from "./writer.ts";

/** A longer key (bytes of UTF-8, its tag included) is written with a question mark. */
const MAX_SIMPLE_KEY = 128;

/** The layout of a document. */
export interface YamlLayout {
  /** Columns for each level, 2 to 9; any other number is 2, as in libyaml. */
  readonly indent?: number;
  /**
   * Lists and maps in brackets, on as few lines as the width allows: all of them, or those with plain scalars only,
   * which is PyYAML's default.
   */
  readonly flow?: boolean | "leaves";
  /** Whether non-ASCII characters are escaped, in double quotes, which is PyYAML's default. */
  readonly ascii?: boolean;
  /** Whether a list or map that occurs twice gets an anchor, and an alias where it occurs again, as PyYAML writes. */
  readonly aliases?: boolean;
  /**
   * Whether maps that {@linkcode isOrdered} knows keep their order, as by `salt.utils.yaml`. Default: all are sorted.
   */
  readonly ordered?: boolean;
}

/**
 * Writes `value` as a YAML document with a final newline.
 * @throws {TypeError} For a structure that contains itself.
 */
export function dumpYaml(
  value: Value,
  { indent = 2, flow = false, ascii = false, aliases = false, ordered = false }: YamlLayout = {},
): string {
  const dumper = new Dumper(new YamlWriter(indent < 2 || indent > 9 ? 2 : indent, { ascii }), { flow, ordered });
  if (aliases) dumper.anchor(value);
  dumper.node(value, "root");
  dumper.writer.newLine();
  return dumper.writer.text;
}

/** The position of a node: `key` is one that fits before its colon. */
type Place = "root" | "item" | "key" | "longKey" | "mapValue";

class Dumper {
  readonly writer: YamlWriter;
  readonly #flow: boolean | "leaves";
  readonly #ordered: boolean;
  readonly #parents = new Set<Value>();
  /** The anchors of collections that occur twice. */
  readonly #anchors = new Map<Value, string>();
  /** Those of them that have been written. */
  readonly #written = new Set<Value>();
  /** Number of open brackets. */
  #brackets = 0;

  constructor(writer: YamlWriter, { flow, ordered }: Required<Pick<YamlLayout, "flow" | "ordered">>) {
    this.writer = writer;
    this.#flow = flow;
    this.#ordered = ordered;
  }

  /** The entries of `map` in the order in which they are written. */
  #entries(map: ValueMap): [Value, Value][] {
    return this.#ordered && isOrdered(map) ? [...map] : sortedEntries(map);
  }

  /** Names every list and map in `value` that occurs twice, in the order in which they occur again. */
  anchor(value: Value, seen: Set<Value> = new Set()): void {
    if (!(value instanceof Map) && !Array.isArray(value)) return;
    if (seen.has(value)) {
      if (!this.#anchors.has(value)) this.#anchors.set(value, `id${String(this.#anchors.size + 1).padStart(3, "0")}`);
      return;
    }
    seen.add(value);
    const items = value instanceof Map ? this.#entries(value).flat() : value;
    for (const item of items) this.anchor(item, seen);
  }

  node(value: Value, place: Place): void {
    if (!(value instanceof Map) && !Array.isArray(value)) return this.#scalar(value, place);
    countStep();
    const anchor = this.#anchors.get(value);
    if (anchor !== undefined) {
      this.writer.indicator(`${this.#written.has(value) ? "*" : "&"}${anchor}`, { spaced: true });
      if (this.#written.has(value)) return;
      this.#written.add(value);
    }
    if (this.#parents.has(value)) throw new TypeError("Cannot write a structure that contains itself as YAML");
    this.#parents.add(value);
    if (value instanceof Map) this.#mapping(value);
    else if (value instanceof ValueSet) this.#set(value);
    else this.#sequence(value, place);
    this.#parents.delete(value);
  }

  #sequence(items: Value[], place: Place): void {
    if (items.length === 0) return this.#empty("[", "]");
    if (this.#inBrackets(items)) return this.#bracketed("[]", items, (item) => this.node(item, "item"));
    const inMapping = place === "key" || place === "longKey" || place === "mapValue";
    this.writer.increaseIndent({ indentless: inMapping && !this.writer.atIndention });
    for (const item of items) {
      this.writer.newLine();
      this.writer.indicator("-", { spaced: true, indention: true });
      this.node(item, "item");
    }
    this.writer.decreaseIndent();
  }

  /** A set is a mapping of its members to null, with a tag. */
  #set(set: Value[]): void {
    this.writer.indicator("!!set", { spaced: true });
    this.#mapping(new Map(set.map((member) => [member, null])));
  }

  #mapping(map: ValueMap): void {
    if (map.size === 0) return this.#empty("{", "}");
    if (this.#inBrackets([...map.keys(), ...map.values()])) {
      return this.#bracketed("{}", this.#entries(map), (entry) => this.#flowEntry(entry));
    }
    this.writer.increaseIndent();
    for (const [key, value] of this.#entries(map)) {
      this.writer.newLine();
      if (isSimpleKey(key)) {
        this.node(key, "key");
        this.writer.indicator(":");
      } else {
        this.writer.indicator("?", { spaced: true, indention: true });
        this.node(key, "longKey");
        this.writer.newLine();
        this.writer.indicator(":", { spaced: true, indention: true });
      }
      this.node(value, "mapValue");
    }
    this.writer.decreaseIndent();
  }

  /** Whether a collection of these parts is written in brackets. */
  #inBrackets(parts: readonly Value[]): boolean {
    if (this.#flow !== "leaves" || this.#brackets > 0) return this.#flow !== false;
    return parts.every((part) => !(part instanceof Map) && !Array.isArray(part) && !(part instanceof Uint8Array));
  }

  #bracketed<T>([open, close]: string, items: readonly T[], write: (item: T) => void): void {
    this.writer.indicator(open, { spaced: true, opens: true });
    this.writer.increaseIndent({ flow: true });
    this.#brackets++;
    items.forEach((item, i) => {
      if (i > 0) this.writer.indicator(",");
      this.writer.foldLine();
      write(item);
    });
    this.#brackets--;
    this.writer.decreaseIndent();
    this.writer.indicator(close);
  }

  #flowEntry([key, value]: [Value, Value]): void {
    if (isSimpleKey(key)) {
      this.node(key, "key");
      this.writer.indicator(":");
    } else {
      this.writer.indicator("?", { spaced: true });
      this.node(key, "longKey");
      this.writer.foldLine();
      this.writer.indicator(":", { spaced: true });
    }
    this.node(value, "mapValue");
  }

  #empty(open: string, close: string): void {
    this.writer.indicator(open, { spaced: true });
    this.writer.indicator(close);
  }

  #scalar(value: Scalar, place: Place): void {
    const writer = this.writer;
    const fold = place !== "key";
    writer.increaseIndent({ flow: true });
    if (value instanceof Uint8Array) {
      writer.indicator("!!binary", { spaced: true });
      if (value.length === 0 || this.#brackets > 0) writer.doubleQuoted(base64Lines(value), fold);
      else writer.literal(base64Lines(value));
    } else if (typeof value !== "string") {
      writer.plain(plainText(value), fold);
    } else {
      const { plain, singleQuoted } = stylesOf(value, this.#brackets > 0, this.writer.ascii);
      if (plain) writer.plain(value, fold);
      else if (singleQuoted) writer.singleQuoted(value, fold);
      else writer.doubleQuoted(value, fold);
    }
    writer.decreaseIndent();
  }
}

type Scalar = Exclude<Value, Value[] | ValueMap>;

function plainText(value: Exclude<Scalar, string | Uint8Array>): string {
  if (value === null) return "null";
  if (!isFloat(value)) return String(value);
  const n = value instanceof Float ? value.value : value;
  if (Number.isNaN(n)) return ".nan";
  if (!Number.isFinite(n)) return n > 0 ? ".inf" : "-.inf";
  const text = floatRepr(n);
  // YAML 1.1 requires a dot in every float.
  return text.includes(".") ? text : text.replace("e", ".0e");
}

function base64Lines(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/.{1,76}/g, "$&\n");
}

function isSimpleKey(key: Value): boolean {
  if (Array.isArray(key)) return key.length === 0;
  if (key instanceof Map) return key.size === 0;
  if (key instanceof Uint8Array) return key.length === 0;
  if (typeof key !== "string") return plainText(key).length <= MAX_SIMPLE_KEY;
  for (const char of key) if (isBreak(char)) return false;
  return new TextEncoder().encode(key).length <= MAX_SIMPLE_KEY;
}

/**
 * Which styles can write `text` so that it reads back as this string; double quotes always can. `bracketed`: within
 * brackets.
 */
function stylesOf(text: string, bracketed: boolean, ascii: boolean): { plain: boolean; singleQuoted: boolean } {
  const chars = [...text];
  const last = chars.length - 1;
  let spaceBeforeBreak = false;
  let breakBeforeSpace = false;
  let special = false;
  let breaks = false;
  chars.forEach((char, i) => {
    const after = chars[i + 1] ?? "";
    if (isBreak(char)) {
      breaks = true;
      breakBeforeSpace ||= after === " ";
    }
    spaceBeforeBreak ||= char === " " && isBreak(after);
    special ||= !isPrintable(char) || (ascii && char > "\x7e");
  });
  const singleQuoted = !special && !spaceBeforeBreak && !breakBeforeSpace;
  const edges = chars[0] === " " || chars[last] === " ";
  return {
    plain: singleQuoted && !breaks && !edges && !hasIndicator(text) && !(bracketed && hasFlowIndicator(text)) &&
      scalarType(text) === "str",
    singleQuoted,
  };
}

/** Whether something in `text` would be read as syntax in a block, on one line and without quotes. */
function hasIndicator(text: string): boolean {
  return /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?: |$))|:(?: |$)| #/.test(text);
}

/** Whether something in `text` would be read as syntax within brackets. */
function hasFlowIndicator(text: string): boolean {
  return /[,?[\]{}:]/.test(text);
}

/** The entries of `map` as Python's `sorted` orders them; in their own order if Python cannot compare the keys. */
function sortedEntries(map: ValueMap): [Value, Value][] {
  const entries = [...map];
  try {
    return entries.sort(([a], [b]) => pythonOrder(a, b));
  } catch (error) {
    if (error instanceof TypeError) return [...map];
    throw error;
  }
}

function pythonOrder(a: Value, b: Value): number {
  if (Array.isArray(a) && Array.isArray(b)) {
    const at = a.findIndex((item, i) => i >= b.length || !equals(item, b[i]));
    return at < 0 || at >= b.length ? a.length - b.length : pythonOrder(a[at], b[at]);
  }
  if (family(a) !== family(b) || a === null || a instanceof Map) throw new TypeError("Python cannot order these");
  return compare(a, b);
}

function family(v: Value): string {
  if (typeof v === "string") return "str";
  if (v instanceof Uint8Array) return "bytes";
  return typeof v === "object" && !(v instanceof Float) ? "other" : "number";
}
