/**
 * Reads the usual documents in one pass: block mappings and lists of words, of quoted texts, of literal blocks (`|`)
 * and of flow lists of words (`[a, b]`), as in SLS files after their templates have been rendered. Documents with other
 * syntax or errors are left to the parser. Measured: an SLS of 1,000 states with four arguments each takes 20 ms here
 * and 51 ms with the parser (`loadYaml(text)` and `loadYaml("---\n" + text)`, five times each). The target `yaml` of
 * `deno task fuzz` compares both for each input.
 * @module
 */

import { scalarType, scalarValue } from "./scalar.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** A parsed document. */
export interface BlockDocument {
  readonly value: Value;
  /** Its maps and lists in the order of the document, each before the ones that it contains. */
  readonly containers: readonly Value[];
}

/** Line breaks, and characters that are not white space and have no special meaning. */
const READABLE = /^[\n\x20-\x7e\xa1-\u1fff\u2030-\u2fff\u3001-\ud7ff]*$/;

/** The characters that a plain scalar may begin with here. A minus must be followed by another character. */
const PLAIN_START = /[A-Za-z0-9_/.+=~()^$;<\\\xa1-\ud7ff-]/;

/** Escapes in double quotes, those of one character. */
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  '"': '"',
  "/": "/",
  "0": "\0",
};

/** Documents that are nested deeper are left to the parser. */
const DEEPEST = 40;
/** Documents with longer keys too: the parser may refuse them. */
const LONGEST_KEY = 1000;

/** Items of a flow list that need no checks: words, and quoted texts without special characters. */
const FLOW_ITEMS =
  /^ *(?:[A-Za-z0-9_/.+~$;=-]+|'[^'"\\,[\]{}\n]*'|"[^'"\\,[\]{}\n]*")(?: *, *(?:[A-Za-z0-9_/.+~$;=-]+|'[^'"\\,[\]{}\n]*'|"[^'"\\,[\]{}\n]*"))* *$/;

const SPACE = 0x20,
  HASH = 0x23,
  QUOTE = 0x22,
  APOSTROPHE = 0x27,
  MINUS = 0x2d,
  COLON = 0x3a,
  BACKSLASH = 0x5c,
  PIPE = 0x7c,
  BRACKET = 0x5b,
  BRACE = 0x7b;

/** Thrown for a document that is left to the parser. */
class Unusual extends Error {}

/**
 * Reads a document.
 * @returns `undefined` if it is to be read by the parser.
 */
export function readBlocks(text: string): BlockDocument | undefined {
  if (!READABLE.test(text)) return undefined;
  try {
    return new BlockReader(text).document();
  } catch (error) {
    if (error instanceof Unusual) return undefined;
    throw error;
  }
}

class BlockReader {
  readonly #text: string;
  readonly #containers: Value[] = [];
  /** The current line: where its contents begin and end, and their indentation; -1 after the last line. */
  #at = 0;
  #end = -1;
  #indent = 0;
  /** Offset after a quoted text. */
  #behind = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): BlockDocument {
    this.#nextLine();
    if (this.#indent < 0) throw new Unusual();
    const value = this.#collection(0);
    // A line is indented less than the document's beginning.
    if (this.#indent >= 0) throw new Unusual();
    return { value, containers: this.#containers };
  }

  /** Goes to the next line that is neither empty nor a comment. */
  #nextLine(): void {
    const text = this.#text;
    for (;;) {
      const start = this.#end + 1;
      if (start >= text.length) {
        this.#indent = -1;
        this.#at = this.#end = text.length;
        return;
      }
      let at = start;
      while (text.charCodeAt(at) === SPACE) at++;
      const end = text.indexOf("\n", at);
      this.#end = end < 0 ? text.length : end;
      if (at >= this.#end || text.charCodeAt(at) === HASH) continue;
      this.#at = at;
      this.#indent = at - start;
      // Markers of documents.
      if (at === start && (text.startsWith("---", at) || text.startsWith("...", at))) throw new Unusual();
      return;
    }
  }

  /** Whether an item of a list begins at `at`. */
  #isItem(at: number): boolean {
    const next = this.#text.charCodeAt(at + 1);
    return this.#text.charCodeAt(at) === MINUS && (at + 1 >= this.#end || next === SPACE);
  }

  /** Reads the collection that begins with the current line. */
  #collection(depth: number): Value {
    return this.#isItem(this.#at) ? this.#list(this.#indent, depth) : this.#mapping(this.#indent, depth);
  }

  #mapping(indent: number, depth: number): ValueMap {
    if (depth > DEEPEST) throw new Unusual();
    const map: ValueMap = new Map();
    this.#containers.push(map);
    do {
      if (this.#isItem(this.#at)) throw new Unusual();
      const [key, behind] = this.#key();
      if (map.has(key)) throw new Unusual();
      const at = this.#skipSpaces(behind);
      if (!this.#isBlank(at)) {
        map.set(key, this.#value(at, indent));
        if (this.#indent > indent) throw new Unusual();
        continue;
      }
      this.#nextLine();
      if (this.#indent > indent) map.set(key, this.#collection(depth + 1));
      else if (this.#indent === indent && this.#isItem(this.#at)) map.set(key, this.#list(indent, depth + 1));
      else map.set(key, null);
    } while (this.#indent === indent);
    if (this.#indent > indent) throw new Unusual();
    return map;
  }

  #list(indent: number, depth: number): Value[] {
    if (depth > DEEPEST) throw new Unusual();
    const list: Value[] = [];
    this.#containers.push(list);
    do {
      const at = this.#skipSpaces(this.#at + 1);
      if (this.#isBlank(at)) {
        this.#nextLine();
        list.push(this.#indent > indent ? this.#collection(depth + 1) : null);
        continue;
      }
      // The text after the minus counts as a line with this indentation.
      if (this.#isItem(at) || this.#endOfKey(at) >= 0) {
        this.#indent += at - this.#at;
        this.#at = at;
        list.push(this.#collection(depth + 1));
        continue;
      }
      list.push(this.#value(at, indent));
      if (this.#indent > indent) throw new Unusual();
    } while (this.#indent === indent && this.#isItem(this.#at));
    if (this.#indent > indent) throw new Unusual();
    return list;
  }

  #skipSpaces(from: number): number {
    let at = from;
    while (at < this.#end && this.#text.charCodeAt(at) === SPACE) at++;
    return at;
  }

  /** Whether the line has nothing from `at` on, or a comment. */
  #isBlank(at: number): boolean {
    return at >= this.#end || this.#text.charCodeAt(at) === HASH;
  }

  /**
   * The value that begins at `at`, of an entry that is indented by `indent`; then the line behind it is the current
   * one: one that is indented further would be more of it, or a mistake.
   */
  #value(at: number, indent: number): Value {
    const first = this.#text.charCodeAt(at);
    if (first === PIPE) return this.#literal(at, indent);
    const value = first === BRACKET || first === BRACE ? this.#flow(at) : this.#inline(at);
    this.#nextLine();
    return value;
  }

  /** Reads a literal block: the lines after the `|` at `at` that are indented more than `indent`. */
  #literal(at: number, indent: number): string {
    const text = this.#text;
    const head = /^\|([+-]?) *$/.exec(text.slice(at, this.#end));
    if (head === null) throw new Unusual();
    const lines: string[] = [];
    let depth = -1, start = this.#end + 1;
    for (; start < text.length; start = this.#end + 1) {
      const newline = text.indexOf("\n", start);
      const end = newline < 0 ? text.length : newline;
      let begin = start;
      while (begin < end && text.charCodeAt(begin) === SPACE) begin++;
      const isEmpty = begin === end;
      if (depth < 0) {
        // The first line sets the indentation; lines of white space before it may be too long.
        if (isEmpty && end > start) throw new Unusual();
        if (!isEmpty && begin - start > indent) depth = begin - start;
      }
      if (!isEmpty && (depth < 0 || begin - start < depth)) {
        if (begin - start > indent) throw new Unusual();
        break;
      }
      lines.push(isEmpty && end - start <= depth ? "" : text.slice(start + Math.max(0, depth), end));
      this.#end = end;
    }
    // Blocks without contents or without a final line break have special rules: they are left to the parser.
    if (depth < 0 || start >= text.length && !text.endsWith("\n")) throw new Unusual();
    this.#nextLine();
    let last = lines.length;
    while (last > 0 && lines[last - 1] === "") last--;
    const contents = lines.slice(0, last).join("\n");
    if (head[1] === "-") return contents;
    return head[1] === "+" ? `${contents}${"\n".repeat(lines.length - last + 1)}` : `${contents}\n`;
  }

  /** The list in brackets that begins at `at`, of scalars on the same line; or an empty map. */
  #flow(at: number): Value {
    const text = this.#text;
    const line = /^(?:\{ *\}|\[ *\]|\[([^\n]*)\])(?: *| +#.*)$/.exec(text.slice(at, this.#end));
    if (line === null) throw new Unusual();
    const [, inside] = line;
    const container: Value = text.charCodeAt(at) === BRACE ? new Map() : [];
    this.#containers.push(container);
    if (inside === undefined || !Array.isArray(container)) return container;
    const items = FLOW_ITEMS.exec(inside) === null ? undefined : inside.split(",").map((item) => item.trim());
    if (items === undefined) throw new Unusual();
    for (const item of items) {
      const quoted = /^(['"])(.*)\1$/.exec(item);
      container.push(quoted === null ? this.#plainText(item) : quoted[2]);
    }
    return container;
  }

  /** The position of the colon of a key that begins at `at`; negative if there is none on its line. */
  #endOfKey(at: number): number {
    const text = this.#text;
    const first = text.charCodeAt(at);
    if (first === QUOTE || first === APOSTROPHE) {
      this.#quoted(at);
      const behind = this.#behind;
      return text.charCodeAt(behind) === COLON && this.#isEnd(behind + 1) ? behind : -1;
    }
    for (let colon = text.indexOf(":", at); colon >= 0 && colon < this.#end; colon = text.indexOf(":", colon + 1)) {
      if (this.#isEnd(colon + 1)) return colon;
    }
    return -1;
  }

  #isEnd(at: number): boolean {
    return at >= this.#end || this.#text.charCodeAt(at) === SPACE;
  }

  /** The key at the beginning of the current line, and where the text after its colon begins. */
  #key(): [key: string | number, behind: number] {
    const at = this.#at, end = this.#endOfKey(at);
    if (end < 0 || end === at || end - at > LONGEST_KEY) throw new Unusual();
    const first = this.#text.charCodeAt(at);
    if (first === QUOTE || first === APOSTROPHE) return [this.#quoted(at), end + 1];
    const key = this.#plain(at, end);
    if (typeof key !== "string" && typeof key !== "number") throw new Unusual();
    return [key, end + 1];
  }

  /** The scalar between `at` and the end of the line. */
  #inline(at: number): Value {
    const text = this.#text;
    const first = text.charCodeAt(at);
    if (first === QUOTE || first === APOSTROPHE) {
      const value = this.#quoted(at);
      const behind = this.#skipSpaces(this.#behind);
      const isComment = text.charCodeAt(behind) === HASH && behind > this.#behind;
      if (behind < this.#end && !isComment) throw new Unusual();
      return value;
    }
    let end = this.#end;
    for (let hash = text.indexOf("#", at); hash >= 0 && hash < end; hash = text.indexOf("#", hash + 1)) {
      if (text.charCodeAt(hash - 1) === SPACE) end = hash;
    }
    while (text.charCodeAt(end - 1) === SPACE) end--;
    const colon = this.#endOfKey(at);
    if (colon >= 0 && colon < end) throw new Unusual();
    return this.#plain(at, end);
  }

  /** The value of a plain scalar. */
  #plain(at: number, end: number): Value {
    return this.#plainText(this.#text.slice(at, end));
  }

  #plainText(text: string): Value {
    const code = text.charCodeAt(0), last = text.charCodeAt(text.length - 1);
    const isLetter = code >= 0x61 && code <= 0x7a || code >= 0x41 && code <= 0x5a || code === 0x2f;
    if (!isLetter && !PLAIN_START.test(text[0])) throw new Unusual();
    if (code === MINUS && (text.length === 1 || text.charCodeAt(1) === SPACE) || last === SPACE) throw new Unusual();
    if (text.includes(" #")) throw new Unusual();
    const value = scalarValue(scalarType(text), text);
    if (value === undefined) throw new Unusual();
    return value;
  }

  /** The text in the quotes that begin at `at`, which end on the same line. Sets where it ends. */
  #quoted(at: number): string {
    const text = this.#text;
    const isSingle = text.charCodeAt(at) === APOSTROPHE;
    let value = "", from = at + 1;
    for (let i = from; i < this.#end; i++) {
      const code = text.charCodeAt(i);
      if (isSingle ? code === APOSTROPHE : code === QUOTE) {
        value += text.slice(from, i);
        if (!isSingle || text.charCodeAt(i + 1) !== APOSTROPHE) {
          this.#behind = i + 1;
          return value;
        }
        value += "'";
        from = ++i + 1;
      } else if (!isSingle && code === BACKSLASH) {
        const escaped = ESCAPES[text[i + 1]];
        if (escaped === undefined) throw new Unusual();
        value += text.slice(from, i) + escaped;
        from = ++i + 1;
      }
    }
    throw new Unusual();
  }
}
