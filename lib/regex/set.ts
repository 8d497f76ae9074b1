/**
 * The sets (`[a-z\d]`) and character escapes (`\d`, `\x41`, `\101`) of Python's regular expressions, translated to
 * JavaScript's `v` mode. Used by regex.ts.
 * @module
 */

import { RegexError } from "#lib/errors.ts";

/** Python's classes as the inside of a set: for str patterns, and with the flag `a`. */
const CLASSES: Readonly<Record<string, readonly [unicode: string, ascii: string]>> = {
  d: ["\\p{Nd}", "0-9"],
  w: ["\\p{L}\\p{N}_", "A-Za-z0-9_"],
  s: ["\\t-\\r\\x1c-\\x20\\x85\\p{Z}", " \\t-\\r"],
};

const CONTROL: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** Maximum number of characters, ranges and classes in a set. */
const MAX_MEMBERS = 256;

/** The set of the class `letter` (`d`, `w`, `s`; upper case: the complement), with brackets. */
export function classEscape(letter: string, ascii: boolean): string {
  const [unicode, plain] = CLASSES[letter.toLowerCase()];
  return `[${letter === letter.toLowerCase() ? "" : "^"}${ascii ? plain : unicode}]`;
}

/** Parses one set or escape in a pattern; then `at` is the position after it. */
export class PythonSet {
  readonly #pattern: string;
  readonly #chars: readonly string[];
  /** Position of the next character to read, in code points. */
  at: number;
  /** Position of the bracket that opens the set. */
  #open = 0;

  /**
   * @param chars The code points of `pattern`.
   * @param at After the opening bracket for {@linkcode read}, at the backslash for {@linkcode escape}.
   */
  constructor(pattern: string, chars: readonly string[], at: number) {
    this.#pattern = pattern;
    this.#chars = chars;
    this.at = at;
  }

  /**
   * The set in JavaScript's syntax.
   * @throws {RegexError} If it has no end, or a bad range.
   */
  read(ascii: boolean): string {
    this.#open = this.at - 1;
    const negated = this.#chars[this.at] === "^";
    if (negated) this.at++;
    // Without duplicates, and bounded: JavaScript needs half a minute for thousands of members.
    const members = new Set<string>();
    for (let first = true; first || this.#chars[this.at] !== "]"; first = false) {
      if (members.size >= MAX_MEMBERS) this.#fail(`a set of more than ${MAX_MEMBERS} members`);
      const start = this.at;
      const low = this.#member(ascii);
      const ranged = this.#chars[this.at] === "-" && this.at + 1 < this.#chars.length &&
        this.#chars[this.at + 1] !== "]";
      if (!ranged) {
        members.add(typeof low === "number" ? spell(low) : low);
        continue;
      }
      this.at++;
      const high = this.#member(ascii);
      if (typeof low !== "number" || typeof high !== "number" || high < low) {
        this.#fail(`bad character range ${this.#chars.slice(start, this.at).join("")}`, start);
      }
      members.add(`${spell(low)}-${spell(high)}`);
    }
    this.at++;
    return `[${negated ? "^" : ""}${[...members].join("")}]`;
  }

  /**
   * An escape outside a set in JavaScript's syntax.
   * @throws {RegexError} If Python has no such escape.
   */
  escape(ascii: boolean): string {
    const member = this.#escaped(ascii);
    return typeof member === "number" ? spell(member) : member;
  }

  /** @param at The place that Python names for it. */
  #fail(problem: string, at = this.at): never {
    throw new RegexError(this.#pattern, `${problem} at position ${at}`);
  }

  /** Reads one member: a code point, or a class in brackets. */
  #member(ascii: boolean): number | string {
    const char = this.#chars[this.at];
    if (char === undefined) this.#fail("unterminated character set", this.#open);
    if (char === "\\") return this.#escaped(ascii);
    this.at++;
    return char.codePointAt(0) ?? 0;
  }

  #escaped(ascii: boolean): number | string {
    const char = this.#chars[this.at + 1];
    if (char === undefined) this.#fail("bad escape (end of pattern)");
    if (Object.hasOwn(CLASSES, char.toLowerCase())) {
      this.at += 2;
      return classEscape(char, ascii);
    }
    if (Object.hasOwn(CONTROL, char)) {
      this.at += 2;
      return CONTROL[char];
    }
    const rest = this.#chars.slice(this.at + 1, this.at + 11).join("");
    const hex = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/.exec(rest);
    if (hex !== null) {
      const code = parseInt(hex[1] ?? hex[2] ?? hex[3], 16);
      if (code > 0x10ffff) this.#fail(`bad escape \\${hex[0]}`);
      this.at += 1 + hex[0].length;
      return code;
    }
    const octal = /^[0-7]{1,3}/.exec(rest);
    if (octal !== null) {
      const code = parseInt(octal[0], 8);
      if (code > 0o377) this.#fail(`octal escape value \\${octal[0]} outside of range 0-0o377`);
      this.at += 1 + octal[0].length;
      return code;
    }
    if (char === "N") this.#fail("\\N{…} is not supported");
    const [cut] = /^(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})/.exec(rest) ?? [];
    if (cut !== undefined) this.#fail(`incomplete escape \\${cut}`);
    if (/[a-zA-Z0-9]/.test(char)) this.#fail(`bad escape \\${char}`);
    this.at += 2;
    return char.codePointAt(0) ?? 0;
  }
}

function spell(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
