/**
 * The tags and texts of an XML document, with their places.
 * Source: www.w3.org/TR/xml; the messages of expat, which Python shows.
 * @module
 */

import { CommandError } from "#lib/errors.ts";

/** A start tag. */
export interface XmlTag {
  readonly kind: "start";
  readonly name: string;
  readonly attributes: readonly {
    readonly written: string;
    readonly value: string;
    /** Where the value is, quotes included. */
    readonly range: { readonly start: number; readonly end: number };
  }[];
  readonly isEmpty: boolean;
  readonly start: number;
  readonly end: number;
}

/** A tag or a text; comments, instructions and the document type are left out. */
export type XmlToken =
  | XmlTag
  | { readonly kind: "end"; readonly name: string; readonly start: number; readonly end: number }
  | { readonly kind: "text"; readonly text: string; readonly start: number; readonly end: number };

const NAME = "[\\p{L}_:][\\p{L}\\p{N}\\p{M}_:.\\u00b7-]*";
const START = new RegExp(`<(${NAME})`, "uy");
const END = new RegExp(`</(${NAME})[ \\t\\r\\n]*>`, "uy");
const ATTRIBUTE = new RegExp(`[ \\t\\r\\n]+(${NAME})[ \\t\\r\\n]*=[ \\t\\r\\n]*("[^"<]*"|'[^'<]*')`, "uy");
/** What is right of a tag, or of an attribute, that is not. */
const BEGUN = new RegExp(`<(?:!|/(?:${NAME})?)?`, "uy");
const BEGUN_ATTRIBUTE = new RegExp(`[ \\t\\r\\n]*(?:${NAME}(?:[ \\t\\r\\n]*=(?:[ \\t\\r\\n]*["'][^"'<]*)?)?)?`, "uy");
const TAG_END = /[ \t\r\n]*(\/?)>/y;
const COMMENT = /<!--(?:(?!--)[^])*-->/y;
const INSTRUCTION = /<\?[^]*?\?>/y;
const LITERAL = /<!\[CDATA\[([^]*?)\]\]>/y;
const TEXT = /[^<]+/y;
/** A document type: an internal subset may have quoted texts, comments and `>` in it. */
const DOCTYPE =
  /<!DOCTYPE(?:[^[\]<>"']|"[^"]*"|'[^']*')+(?:\[(?:[^\]"'<]|"[^"]*"|'[^']*'|<!--[^]*?-->|<\?[^]*?\?>|<!(?:[^>"']|"[^"]*"|'[^']*')*>)*\][ \t\r\n]*)?>/y;

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** The number of a character. */
export function codePointAt(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Reads a text from its beginning. */
export class XmlScanner {
  #at = 0;

  constructor(readonly source: string) {}

  /** The number of UTF-16 units. */
  get length(): number {
    return this.source.length;
  }

  /** An error with Python's place: the line, and the characters of it before. */
  error(message: string, at: number): CommandError {
    const before = this.source.slice(0, at).replace(/\r\n?/g, "\n");
    const line = before.split("\n").length;
    return new CommandError(
      `${message}: line ${line}, column ${[...before.slice(before.lastIndexOf("\n") + 1)].length}`,
    );
  }

  /** @throws {CommandError} At the first place that is not XML. */
  *tokens(): Generator<XmlToken, void> {
    const { source } = this;
    let seen = false;
    if (source.startsWith("\ufeff")) this.#at = 1;
    while (this.#at < source.length) {
      const start = this.#at;
      if (this.#take(COMMENT) || this.#take(INSTRUCTION) || (!seen && this.#take(DOCTYPE))) continue;
      const literal = this.#take(LITERAL);
      if (literal) {
        yield { kind: "text", text: this.#checked(lines(literal[1]), start), start, end: this.#at };
        continue;
      }
      const text = this.#take(TEXT);
      if (text) {
        yield { kind: "text", text: this.#decoded(lines(text[0]), start), start, end: this.#at };
        continue;
      }
      const end = this.#take(END);
      if (end) yield { kind: "end", name: end[1], start, end: this.#at };
      else {
        seen = true;
        yield this.#tag(start);
      }
    }
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.source);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #tag(start: number): XmlTag {
    const name = this.#take(START)?.[1];
    if (name === undefined) throw this.#unfit(start);
    const attributes: XmlTag["attributes"][number][] = [];
    for (;;) {
      const found = this.#take(ATTRIBUTE);
      if (found === null) break;
      const [, written, quoted] = found;
      if (attributes.some((other) => other.written === written)) {
        throw this.error("duplicate attribute", this.#at - found[0].trimStart().length);
      }
      const range = { start: this.#at - quoted.length, end: this.#at };
      const text = lines(quoted.slice(1, -1)).replace(/[\t\n]/g, " ");
      attributes.push({ written, value: this.#decoded(text, range.start + 1), range });
    }
    const end = this.#take(TAG_END);
    if (end === null) throw this.#unfit(start);
    return { kind: "start", name, attributes, isEmpty: end[1] === "/", start, end: this.#at };
  }

  /** What is not XML, or not all of it; `start` is where the tag begins. */
  #unfit(start: number): CommandError {
    const { source } = this;
    if (source.startsWith("<![CDATA[", start)) return this.error("unclosed CDATA section", source.length);
    const double = source.startsWith("<!--", start) ? source.indexOf("--", start + 4) : -1;
    if (double >= 0) return this.error("not well-formed (invalid token)", double + 2);
    if (!source.slice(start).includes(">")) return this.error("unclosed token", start);
    const pattern = this.#at === start ? BEGUN : BEGUN_ATTRIBUTE;
    this.#take(pattern);
    return this.error("not well-formed (invalid token)", this.#at);
  }

  /** A text without its references. */
  #decoded(text: string, at: number): string {
    if (text.includes("]]>")) throw this.error("not well-formed (invalid token)", at + text.indexOf("]]>") + 2);
    const decoded = text.replace(
      /&(?:#(\d{1,7});|#x([\da-fA-F]{1,6});|([\p{L}_][\p{L}\p{N}_.-]*);)?/gu,
      (_, ...found) => {
        const [decimal, hex, name, offset]: unknown[] = found;
        if (typeof name === "string") {
          if (Object.hasOwn(ENTITIES, name)) return ENTITIES[name];
          throw this.error("undefined entity", at + Number(offset));
        }
        if (typeof decimal !== "string" && typeof hex !== "string") {
          throw this.error("not well-formed (invalid token)", at + Number(offset) + 1);
        }
        const code = typeof decimal === "string" ? Number(decimal) : parseInt(String(hex), 16);
        if (code > 0x10ffff || isUnfit(String.fromCodePoint(code))) {
          throw this.error("reference to invalid character number", at + Number(offset));
        }
        return String.fromCodePoint(code);
      },
    );
    return this.#checked(decoded, at);
  }

  /** @throws {CommandError} If a character cannot be in a document. */
  #checked(text: string, at: number): string {
    if (isUnfit(text)) throw this.error("not well-formed (invalid token)", at + text.search(UNFIT));
    return text;
  }
}

// deno-lint-ignore no-control-regex
const UNFIT = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;

function isUnfit(text: string): boolean {
  return UNFIT.test(text);
}

/** A text with line ends as XML has them. */
function lines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}
