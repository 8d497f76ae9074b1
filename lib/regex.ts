/**
 * Python's regular expressions as JavaScript's: targets (`pcre`), compound terms and searches are written for Python's `re`.
 * The pattern is read whole and written anew, so that what both languages spell alike and mean differently (`$`, `\w`,
 * `.`) means what Python means. Refused by name: conditionals, atomic groups, possessive quantifiers, `\N{…}`, `(?L)`.
 * Source: docs.python.org, "re".
 * @module
 */

import { RegexError } from "./errors.ts";
import { classEscape, PythonSet } from "./regex_set.ts";

/** A longer pattern is refused: nobody wrote it, and its automaton would cost too much. In UTF-16 units. */
export const MAX_PATTERN_LENGTH = 65_536;

/** Python's flags that change how what follows is read. */
interface Flags {
  readonly ascii: boolean;
  readonly ignoreCase: boolean;
  readonly multiLine: boolean;
  readonly dotAll: boolean;
  readonly verbose: boolean;
}

const NO_FLAGS: Flags = { ascii: false, ignoreCase: false, multiLine: false, dotAll: false, verbose: false };
const FLAG_NAMES: Readonly<Record<string, keyof Flags | undefined>> = {
  a: "ascii",
  i: "ignoreCase",
  m: "multiLine",
  s: "dotAll",
  x: "verbose",
  u: undefined, // the default of str patterns
};

const cache = new Map<string, RegExp>();
const CACHED = 64;

/**
 * The JavaScript expression for the Python pattern, matching at the start of the text as `re.match` does.
 * @param options.search Match anywhere, as `re.search` does.
 * @throws {RegexError} For a pattern that Python refuses, or that has no equal here.
 */
export function pythonRegex(pattern: string, options: { search?: boolean } = {}): RegExp {
  const key = `${options.search === true ? "s" : "m"}${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new RegexError(pattern, `it has ${pattern.length} characters, ${MAX_PATTERN_LENGTH} are allowed`);
  }
  const body = new Reader(pattern).read();
  let regex: RegExp;
  try {
    regex = new RegExp(options.search === true ? body : `^(?:${body})`, "v");
  } catch (error) {
    throw new RegexError(pattern, error instanceof Error ? error.message : String(error));
  }
  if (cache.size >= CACHED) cache.clear();
  cache.set(key, regex);
  return regex;
}

/** What the last thing read was, as far as a quantifier after it is concerned. */
type Last = "nothing" | "item" | "repeated";

/** One pass over a pattern. A reader is used once. */
class Reader {
  readonly #pattern: string;
  readonly #chars: string[];
  #at = 0;
  #groups = 0;
  readonly #open = new Set<number>();
  readonly #names = new Map<string, number>();

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#chars = [...pattern];
  }

  read(): string {
    let flags = NO_FLAGS;
    let leading: RegExpExecArray | null;
    while ((leading = /^\(\?([aiLmsux]+)\)/.exec(this.#chars.slice(this.#at, this.#at + 16).join(""))) !== null) {
      flags = this.#addFlags(flags, leading[1]);
      this.#at += leading[0].length;
    }
    const body = this.#alternatives(flags);
    if (this.#at < this.#chars.length) this.#fail("unbalanced parenthesis");
    return flags.ignoreCase ? `(?i:${body})` : body;
  }

  #fail(problem: string): never {
    throw new RegexError(this.#pattern, `${problem} at position ${this.#at}`);
  }

  #addFlags(flags: Flags, letters: string, value = true): Flags {
    const changed: Partial<Record<keyof Flags, boolean>> = {};
    for (const letter of letters) {
      if (!Object.hasOwn(FLAG_NAMES, letter)) this.#fail(`the flag "${letter}" is not supported`);
      const name = FLAG_NAMES[letter];
      if (name !== undefined) changed[name] = value;
    }
    return { ...flags, ...changed };
  }

  /** Reads up to a closing parenthesis or the end. */
  #alternatives(flags: Flags): string {
    let out = "";
    let last: Last = "nothing";
    let itemStart = 0;
    while (this.#at < this.#chars.length) {
      const char = this.#chars[this.#at];
      if (char === ")") break;
      if (flags.verbose && /\s/.test(char)) {
        this.#at++;
        continue;
      }
      if (flags.verbose && char === "#") {
        while (this.#at < this.#chars.length && this.#chars[this.#at] !== "\n") this.#at++;
        continue;
      }
      if (char === "|") {
        out += "|";
        last = "nothing";
        this.#at++;
        continue;
      }
      const quantifier = this.#quantifier();
      if (quantifier !== undefined) {
        if (last === "nothing") this.#fail("nothing to repeat");
        if (last === "repeated") this.#fail("multiple repeat");
        out = `${out.slice(0, itemStart)}(?:${out.slice(itemStart)})${quantifier}`;
        last = "repeated";
        continue;
      }
      const piece = this.#item(flags);
      if (piece.text === "" && piece.last === "nothing") continue; // a comment: what stands before it may be repeated
      itemStart = out.length;
      out += piece.text;
      last = piece.last;
    }
    return out;
  }

  /** The quantifier that stands here, in JavaScript's spelling; `undefined`, and nothing read, if there is none. */
  #quantifier(): string | undefined {
    const rest = this.#chars.slice(this.#at, this.#at + 24).join("");
    const found = /^(?:[*+?]|\{(?:\d+,?\d*|,\d*)\})/.exec(rest);
    if (found === null) return undefined;
    this.#at += found[0].length;
    const next = this.#chars[this.#at];
    if (next === "+") this.#fail("possessive quantifiers are not supported");
    if (next === "?") this.#at++;
    const spelled = found[0].startsWith("{,") ? `{0${found[0].slice(1)}` : found[0];
    const bounds = /^\{(\d+),(\d+)\}$/.exec(spelled);
    if (bounds !== null && Number(bounds[1]) > Number(bounds[2])) this.#fail("min repeat greater than max repeat");
    return spelled + (next === "?" ? "?" : "");
  }

  #item(flags: Flags): { text: string; last: Last } {
    const char = this.#chars[this.#at++];
    switch (char) {
      case "(":
        return this.#group(flags);
      case "[":
        return { text: this.#set(flags), last: "item" };
      case "\\":
        return this.#escape(flags);
      case ".":
        return { text: flags.dotAll ? "[\\s\\S]" : "[^\\n]", last: "item" };
      case "^":
        return { text: flags.multiLine ? "(?<![^\\n])" : "(?<![\\s\\S])", last: "nothing" };
      case "$":
        return { text: flags.multiLine ? "(?![^\\n])" : "(?=\\n?(?![\\s\\S]))", last: "nothing" };
      default:
        return { text: literal(char), last: "item" };
    }
  }

  #group(flags: Flags): { text: string; last: Last } {
    if (this.#chars[this.#at] !== "?") {
      return { text: `(${this.#captured(flags)})`, last: "item" };
    }
    const rest = this.#chars.slice(this.#at, this.#at + 300).join("");
    if (rest.startsWith("?#")) {
      const end = this.#chars.indexOf(")", this.#at);
      if (end < 0) this.#fail("missing ), unterminated comment");
      this.#at = end + 1;
      return { text: "", last: "nothing" };
    }
    const named = /^\?P<([^>]*)>/.exec(rest);
    if (named !== null) {
      const name = this.#groupName(named[1]);
      if (this.#names.has(name)) this.#fail(`redefinition of group name "${name}"`);
      this.#names.set(name, this.#groups + 1);
      this.#at += [...named[0]].length;
      return { text: `(?<${name}>${this.#captured(flags)})`, last: "item" };
    }
    const reference = /^\?P=([^)]*)\)/.exec(rest);
    if (reference !== null) {
      const number = this.#names.get(this.#groupName(reference[1]));
      if (number === undefined) this.#fail(`unknown group name "${reference[1]}"`);
      this.#at += [...reference[0]].length;
      return { text: this.#backReference(number), last: "item" };
    }
    const assertion = /^\?(?:<?[=!]|:)/.exec(rest);
    if (assertion !== null) {
      this.#at += assertion[0].length;
      return { text: `(${assertion[0]}${this.#inside(flags)})`, last: "item" };
    }
    const scoped = /^\?([aiLmsux]*)(?:-([imsx]+))?:/.exec(rest);
    if (scoped !== null) {
      this.#at += scoped[0].length;
      const inner = this.#addFlags(this.#addFlags(flags, scoped[1]), scoped[2] ?? "", false);
      const body = this.#inside(inner);
      if (inner.ignoreCase === flags.ignoreCase) return { text: `(?:${body})`, last: "item" };
      return { text: `(?${inner.ignoreCase ? "i" : "-i"}:${body})`, last: "item" };
    }
    if (rest.startsWith("?>")) this.#fail("atomic groups are not supported");
    if (rest.startsWith("?(")) this.#fail("conditional groups are not supported");
    if (/^\?[aiLmsux]+\)/.test(rest)) this.#fail("global flags not at the start of the expression");
    return this.#fail(`unknown extension ${rest.slice(0, 3)}`);
  }

  #captured(flags: Flags): string {
    const number = ++this.#groups;
    this.#open.add(number);
    const body = this.#inside(flags);
    this.#open.delete(number);
    return body;
  }

  #inside(flags: Flags): string {
    const body = this.#alternatives(flags);
    if (this.#chars[this.#at] !== ")") this.#fail("missing ), unterminated subpattern");
    this.#at++;
    return body;
  }

  #groupName(name: string): string {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) this.#fail(`bad character in group name "${name}"`);
    return name;
  }

  #backReference(number: number): string {
    if (number > this.#groups) this.#fail(`invalid group reference ${number}`);
    if (this.#open.has(number)) this.#fail("cannot refer to an open group");
    // By name where there is one: JavaScript's numbers would do as well, but read worse in an error message.
    const name = [...this.#names].find(([, n]) => n === number)?.[0];
    return name === undefined ? `(?:\\${number})` : `\\k<${name}>`;
  }

  #escape(flags: Flags): { text: string; last: Last } {
    const char = this.#chars[this.#at];
    if (char === undefined) this.#fail("bad escape (end of pattern)");
    const word = classEscape("w", flags.ascii);
    switch (char) {
      case "A":
        this.#at++;
        return { text: "(?<![\\s\\S])", last: "nothing" };
      case "Z":
        this.#at++;
        return { text: "(?![\\s\\S])", last: "nothing" };
      case "b":
        this.#at++;
        return { text: `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`, last: "nothing" };
      case "B":
        this.#at++;
        return { text: `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`, last: "nothing" };
    }
    const rest = this.#chars.slice(this.#at, this.#at + 12).join("");
    const number = /^[1-9]\d?/.exec(rest);
    if (number !== null && !/^[0-7]{3}/.test(rest)) {
      this.#at += number[0].length;
      return { text: this.#backReference(Number(number[0])), last: "item" };
    }
    const set = new PythonSet(this.#pattern, this.#chars, this.#at - 1);
    const text = set.escape(flags.ascii);
    this.#at = set.at;
    return { text, last: "item" };
  }

  #set(flags: Flags): string {
    const set = new PythonSet(this.#pattern, this.#chars, this.#at);
    const text = set.read(flags.ascii);
    this.#at = set.at;
    return text;
  }
}

/** A character that means itself. */
function literal(char: string): string {
  return /[\w\s-]/.test(char) && char !== "-" ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
