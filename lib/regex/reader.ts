/**
 * Parses regular expressions in Python's syntax into trees. Where Python differs from other languages (`$`, `\w`, `.`),
 * Python's meaning is used. Used by regex.ts.
 * @module
 */

import { messageOf, RegexError } from "#lib/errors.ts";
import { repr } from "#lib/values/value.ts";
import { type Assertion, type CharTest, type RegexNode, type Width, widthOf } from "./nodes.ts";
import { classEscape, PythonSet } from "./set.ts";

/** Maximum number of different sets and classes in one pattern: parsing one takes up to a millisecond. */
const MAX_SETS = 256;
/** Maximum nesting of groups. */
const MAX_DEPTH = 200;

/** Python's flags that change how the rest is parsed. */
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

/** The item that a quantifier applies to. */
type Last = "nothing" | "item" | "repeated";

/** One node, and whether it may be repeated. A comment gives no node. */
interface Piece {
  readonly node: RegexNode | undefined;
  readonly last: Last;
}

const START: Assertion = (_codes, at) => at === 0;
const END: Assertion = (codes, at) => at === codes.length;
const LINE_START: Assertion = (codes, at) => at === 0 || codes[at - 1] === NEWLINE;
const LINE_END: Assertion = (codes, at) => at === codes.length || codes[at] === NEWLINE;
const LAST_LINE_END: Assertion = (codes, at) =>
  at === codes.length || (at === codes.length - 1 && codes[at] === NEWLINE);
const NEWLINE = 0x0a;

/** Parses one pattern; used once. */
export class RegexReader {
  readonly #pattern: string;
  readonly #chars: string[];
  #at = 0;
  #depth = 0;
  #groups = 0;
  #sets = 0;
  /** Of the groups that have ended. */
  readonly #widths = new Map<number, Width>();
  /** The groups before the look-behind that is read. */
  #before = Infinity;
  readonly #names = new Map<string, number>();
  readonly #tests = new Map<string, CharTest>();

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#chars = [...pattern];
  }

  /**
   * Parses the whole pattern.
   * @throws {RegexError} If Python refuses it, or it needs something that is not supported here.
   */
  read(): RegexNode {
    let flags = NO_FLAGS;
    let leading: RegExpExecArray | null;
    while ((leading = /^\(\?([aiLmsux]+)\)/.exec(this.#ahead(16))) !== null) {
      flags = this.#addFlags(flags, leading[1]);
      this.#at += leading[0].length;
    }
    const root = this.#alternatives(flags);
    if (this.#at < this.#chars.length) this.#fail("unbalanced parenthesis");
    return root;
  }

  /** The number of capturing groups of what was read. */
  get groups(): number {
    return this.#groups;
  }

  /** The numbers of the named groups of what was read. */
  get names(): ReadonlyMap<string, number> {
    return this.#names;
  }

  #ahead(count: number): string {
    return this.#chars.slice(this.#at, this.#at + count).join("");
  }

  /** @param at The place that Python names for it. */
  #fail(problem: string, at = this.#at): never {
    throw new RegexError(this.#pattern, `${problem} at position ${at}`);
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

  /** Parses up to a closing parenthesis or the end. */
  #alternatives(flags: Flags): RegexNode {
    const options: RegexNode[] = [];
    let items: RegexNode[] = [];
    let last: Last = "nothing";
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
        options.push({ kind: "sequence", items });
        items = [];
        last = "nothing";
        this.#at++;
        continue;
      }
      const at = this.#at;
      const quantifier = this.#quantifier();
      if (quantifier !== undefined) {
        const item = items.at(-1);
        if (last === "nothing" || item === undefined) this.#fail("nothing to repeat", at);
        if (last === "repeated") this.#fail("multiple repeat", at);
        items[items.length - 1] = { kind: "repeat", item, ...quantifier };
        last = "repeated";
        continue;
      }
      const piece = this.#item(flags);
      if (piece.node === undefined) continue; // a comment: a quantifier after it applies to the item before it
      items.push(piece.node);
      last = piece.last;
    }
    if (options.length === 0) return { kind: "sequence", items };
    return { kind: "either", options: [...options, { kind: "sequence", items }] };
  }

  /** Parses a quantifier; `undefined` if there is none here. */
  #quantifier(): { min: number; max: number; lazy: boolean } | undefined {
    const match = /^(?:([*+?])|\{(?:(\d+)(,?)(\d*)|,(\d*))\})/.exec(this.#ahead(24));
    if (match === null) return undefined;
    const start = this.#at;
    this.#at += match[0].length;
    const next = this.#chars[this.#at];
    if (next === "+") this.#fail("possessive quantifiers are not supported");
    if (next === "?") this.#at++;
    const [, sign, low = "0", comma, high, only] = match;
    const min = sign === "+" ? 1 : sign === undefined ? Number(low) : 0;
    const bound = only ?? (comma === "" ? low : high);
    const max = sign === "?" ? 1 : sign !== undefined || bound === "" ? Infinity : Number(bound);
    if (min > max) this.#fail("min repeat greater than max repeat", start + 1);
    return { min, max, lazy: next === "?" };
  }

  #item(flags: Flags): Piece {
    const char = this.#chars[this.#at++];
    switch (char) {
      case "(":
        return this.#group(flags);
      case "[":
        return this.#char(this.#set(flags), flags);
      case "\\":
        return this.#escape(flags);
      case ".":
        return { node: { kind: "char", test: flags.dotAll ? () => true : (code) => code !== NEWLINE }, last: "item" };
      case "^":
        return place(flags.multiLine ? LINE_START : START);
      case "$":
        return place(flags.multiLine ? LINE_END : LAST_LINE_END);
    }
    const code = char.codePointAt(0) ?? 0;
    return this.#char(`\\u{${code.toString(16)}}`, flags);
  }

  /** One character out of `set`, in JavaScript's syntax. */
  #char(set: string, { ignoreCase }: Flags): Piece {
    return { node: { kind: "char", test: this.#test(set, ignoreCase) }, last: "item" };
  }

  #test(set: string, ignoreCase: boolean): CharTest {
    const key = `${ignoreCase ? "i" : ""}${set}`;
    let test = this.#tests.get(key);
    if (test === undefined) {
      const single = /^\\u\{([0-9a-f]+)\}$/.exec(set);
      if (single !== null) {
        const wanted = parseInt(single[1], 16);
        test = ignoreCase ? anyCase(wanted) : (code) => code === wanted;
      } else {
        if (++this.#sets > MAX_SETS) this.#fail(`more than ${MAX_SETS} different sets`);
        test = setTest(this.#compiled(set, ignoreCase));
      }
      this.#tests.set(key, test);
    }
    return test;
  }

  #compiled(set: string, ignoreCase: boolean): RegExp {
    try {
      return new RegExp(`^${set}$`, ignoreCase ? "iv" : "v");
    } catch (error) {
      return this.#fail(messageOf(error));
    }
  }

  #group(flags: Flags): Piece {
    const start = this.#at - 1;
    if (this.#chars[this.#at] !== "?") return this.#captured(flags, start);
    const rest = this.#ahead(300);
    if (rest.startsWith("?#")) {
      const end = this.#chars.indexOf(")", this.#at);
      if (end < 0) this.#fail("missing ), unterminated comment", start);
      this.#at = end + 1;
      return { node: undefined, last: "nothing" };
    }
    const named = this.#named(rest, { flags, start });
    if (named !== undefined) return named;
    const assertion = /^\?(<?)([=!])/.exec(rest);
    if (assertion !== null) {
      this.#at += assertion[0].length;
      return this.#look({ isBehind: assertion[1] === "<", negated: assertion[2] === "!" }, { flags, start });
    }
    const scoped = /^\?([aiLmsux]*)(?:-([imsx]+))?:/.exec(rest);
    if (scoped !== null) {
      this.#at += scoped[0].length;
      const inner = this.#addFlags(this.#addFlags(flags, scoped[1]), scoped[2] ?? "", false);
      return { node: this.#inside(inner, start), last: "item" };
    }
    if (rest.startsWith("?>")) this.#fail("atomic groups are not supported");
    if (rest.startsWith("?(")) this.#fail("conditional groups are not supported");
    if (/^\?[aiLmsux]+\)/.test(rest)) this.#fail("global flags not at the start of the expression", start);
    return this.#fail(`unknown extension ${rest.slice(0, "<P".includes(rest[1] ?? " ") ? 3 : 2)}`);
  }

  /**
   * A group with a name, or a reference to one.
   * @param rest The characters from `?` on.
   */
  #named(rest: string, { flags, start }: { readonly flags: Flags; readonly start: number }): Piece | undefined {
    const nameMatch = /^\?P<([^>]*)>/.exec(rest);
    if (nameMatch !== null) {
      const name = this.#groupName(nameMatch[1], start + 4);
      const earlier = this.#names.get(name);
      if (earlier !== undefined) {
        const again = `redefinition of group name '${name}' as group ${this.#groups + 1}; was group ${earlier}`;
        this.#fail(again, start + 4);
      }
      this.#names.set(name, this.#groups + 1);
      this.#at += [...nameMatch[0]].length;
      return this.#captured(flags, start);
    }
    if (rest.startsWith("?P<")) this.#fail("missing >, unterminated name", start + 4);
    const reference = /^\?P=([^)]*)\)/.exec(rest);
    if (reference === null) return undefined;
    const at = start + 4;
    const number = this.#names.get(this.#groupName(reference[1], at));
    if (number === undefined) this.#fail(`unknown group name '${reference[1]}'`, at);
    this.#at += [...reference[0]].length;
    return this.#backReference(number, { flags, at });
  }

  /** A look at what stands ahead or behind. */
  #look(
    { isBehind, negated }: { readonly isBehind: boolean; readonly negated: boolean },
    { flags, start }: { readonly flags: Flags; readonly start: number },
  ): Piece {
    const outer = this.#before;
    if (isBehind) this.#before = Math.min(outer, this.#groups);
    const item = this.#inside(flags, start);
    this.#before = outer;
    const [min, max] = widthOf(item);
    if (isBehind && min !== max) {
      // Python names no place for it.
      throw new RegexError(this.#pattern, "look-behind requires fixed-width pattern");
    }
    return { node: { kind: "look", item, back: isBehind ? min : 0, negated }, last: "item" };
  }

  #captured(flags: Flags, start: number): Piece {
    const number = ++this.#groups;
    const item = this.#inside(flags, start);
    this.#widths.set(number, widthOf(item));
    return { node: { kind: "group", number, item }, last: "item" };
  }

  /** Parses a group that begins at `start`, with its closing parenthesis. */
  #inside(flags: Flags, start: number): RegexNode {
    if (++this.#depth > MAX_DEPTH) this.#fail(`groups lie in each other more than ${MAX_DEPTH} deep`);
    const body = this.#alternatives(flags);
    if (this.#chars[this.#at] !== ")") this.#fail("missing ), unterminated subpattern", start);
    this.#at++;
    this.#depth--;
    return body;
  }

  #groupName(name: string, at: number): string {
    if (name === "") this.#fail("missing group name", at);
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) this.#fail(`bad character in group name ${repr(name)}`, at);
    return name;
  }

  /** @param setting.at The place that Python names if it is the group's own. */
  #backReference(number: number, { flags, at }: { readonly flags: Flags; readonly at: number }): Piece {
    if (number > this.#groups) this.#fail(`invalid group reference ${number}`, at + 1);
    const width = this.#widths.get(number);
    if (width === undefined) this.#fail("cannot refer to an open group", at);
    if (number > this.#before) this.#fail("cannot refer to group defined in the same lookbehind subpattern");
    return { node: { kind: "same", number, ignoreCase: flags.ignoreCase, width }, last: "item" };
  }

  #escape(flags: Flags): Piece {
    const char = this.#chars[this.#at];
    if (char === undefined) this.#fail("bad escape (end of pattern)", this.#at - 1);
    if ("AZbB".includes(char)) {
      this.#at++;
      if (char === "A" || char === "Z") return place(char === "A" ? START : END);
      const isWord = this.#test(classEscape("w", flags.ascii), false);
      const word = (codes: readonly number[], at: number) => at >= 0 && at < codes.length && isWord(codes[at]);
      if (char === "b") return place((codes, at) => word(codes, at - 1) !== word(codes, at));
      // In an empty text Python (before 3.14) finds neither.
      return place((codes, at) => codes.length > 0 && word(codes, at - 1) === word(codes, at));
    }
    const rest = this.#ahead(12);
    const number = /^[1-9]\d?/.exec(rest);
    if (number !== null && !/^[0-7]{3}/.test(rest)) {
      const start = this.#at - 1;
      this.#at += number[0].length;
      return this.#backReference(Number(number[0]), { flags, at: start });
    }
    const set = new PythonSet(this.#pattern, this.#chars, this.#at - 1);
    const text = set.escape(flags.ascii);
    this.#at = set.at;
    return this.#char(text, flags);
  }

  #set(flags: Flags): string {
    const set = new PythonSet(this.#pattern, this.#chars, this.#at);
    const text = set.read(flags.ascii);
    this.#at = set.at;
    return text;
  }
}

function place(holds: Assertion): Piece {
  return { node: { kind: "place", holds }, last: "nothing" };
}

/** Matches `wanted` in upper and lower case. */
function anyCase(wanted: number): CharTest {
  const char = String.fromCodePoint(wanted);
  if (wanted < 128) {
    const [lower, upper] = [char.toLowerCase(), char.toUpperCase()].map((each) => each.codePointAt(0));
    // Two letters beyond ASCII are equal to ASCII letters: the Kelvin sign and the long s.
    const other = lower === 0x6b ? 0x212a : lower === 0x73 ? 0x17f : lower;
    return (code) => code === lower || code === upper || code === other;
  }
  return setTest(new RegExp(`^\\u{${wanted.toString(16)}}$`, "iv"));
}

/** A test by `regex`, with its results for ASCII cached. */
function setTest(regex: RegExp): CharTest {
  const answers: (boolean | undefined)[] = new Array(128);
  return (code) => {
    if (code > 127) return regex.test(String.fromCodePoint(code));
    return answers[code] ??= regex.test(String.fromCharCode(code));
  };
}
