/**
 * Python's regular expressions: targets (`pcre`), compound terms, access rules and searches are written for Python's
 * `re`. Not supported, and refused with an error: conditionals, atomic groups, possessive quantifiers, `\N{…}`, `(?L)`.
 *
 * JavaScript's expressions are not used to match: `(\w+-?)+$` on an id that an attacker chose would keep a thread busy
 * for years. The matcher of program.ts is bounded.
 *
 * npm:re2js 2.10.0 is bounded too, and was measured. Of the 135 patterns in tests/corpus/regex.json it refuses 20 that
 * Python accepts (lookaround, references, `(?x)`, `(?a)`, `\Z`, `\u00e9`), accepts 8 that Python refuses, and finds
 * something else with 19 (its `\w` and `\d` are ASCII, its `$` does not match before a final newline). So a target
 * would mean other minions than with Python. A translation would need reader.ts and set.ts, half of this code. Loading
 * re2js takes 9.1 ms of a processor, this 2.3 ms. Microseconds for an id, re2js and this: `web[0-3]-.*` 4.7 and 5.2,
 * alternatives 20 and 17, `.*x\d+5\.com$` 3.0 and 19. Source: docs.python.org, "re".
 * @module
 */

import { RegexError } from "#lib/errors.ts";
import { codePoints } from "#lib/values/code_points.ts";
import { type Capture, RegexProgram, type Span } from "./program.ts";
import { RegexReader } from "./reader.ts";

/** Maximum length of a pattern, in UTF-16 units. */
export const MAX_PATTERN_LENGTH = 65_536;

/** A compiled expression. */
export class PythonRegex {
  readonly #program: RegexProgram;
  readonly #search: boolean;
  /** The number of its groups. */
  readonly groups: number;
  /** The numbers of its named groups. */
  readonly names: ReadonlyMap<string, number>;

  /**
   * Compiles `pattern`; use {@linkcode pythonRegex}.
   * @throws {RegexError}
   */
  constructor(
    /** The source of the expression. */
    readonly pattern: string,
    options: { readonly search: boolean },
  ) {
    this.#search = options.search;
    const reader = new RegexReader(pattern);
    const root = reader.read();
    this.groups = reader.groups;
    this.names = reader.names;
    this.#program = this.#bounded(() => new RegexProgram(root, pattern.length));
  }

  /**
   * Whether it matches `text`.
   * @throws {RegexError} If matching takes too many steps; no valid id is long enough for that.
   */
  test(text: string): boolean {
    return this.#span(codePoints(text)) !== undefined;
  }

  /**
   * The part of `text` that matches; `undefined` if none does.
   * @throws {RegexError} As {@linkcode test}.
   */
  match(text: string): string | undefined {
    const codes = codePoints(text);
    const span = this.#span(codes);
    return span && codes.slice(span.start, span.end).map((code) => String.fromCodePoint(code)).join("");
  }

  /**
   * Python's `finditer`: all matches in `codes`, wherever they begin, with their groups.
   * @throws {RegexError} If they take too many steps.
   */
  *matches(codes: readonly number[]): Generator<Capture, void> {
    const iterator = this.#program.matches(codes, this.groups);
    while (true) {
      const next = this.#bounded(() => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  /**
   * Python's `match` at the start of `codes`, with its groups.
   * @throws {RegexError} If it takes too many steps.
   */
  capture(codes: readonly number[]): Capture | undefined {
    return this.#bounded(() => this.#program.capture(codes, this.groups));
  }

  /** Number of steps that the last {@linkcode test} or {@linkcode match} took, for callers that limit many of them. */
  get spent(): number {
    return this.#program.spent;
  }

  #span(codes: readonly number[]): Span | undefined {
    return this.#bounded(() => this.#program.match(codes, { search: this.#search }));
  }

  #bounded<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof RangeError) throw new RegexError(this.pattern, error.message);
      throw error;
    }
  }
}

const cache = new Map<string, PythonRegex>();
const CACHED = 64;
/** Longer patterns are compiled each time, so that the cache is bounded. */
const CACHED_LENGTH = 1_000;

/**
 * Compiles a Python pattern. It matches at the start of the text, as `re.match` does.
 * @param options.search Match anywhere, as `re.search` does.
 * @throws {RegexError} If Python refuses the pattern, or it needs something that is not supported here.
 */
export function pythonRegex(pattern: string, options: { search?: boolean } = {}): PythonRegex {
  const key = `${options.search === true ? "s" : "m"}${pattern}`;
  const compiled = cache.get(key);
  if (compiled !== undefined) return compiled;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new RegexError(pattern, `it has ${pattern.length} characters, ${MAX_PATTERN_LENGTH} are allowed`);
  }
  const regex = new PythonRegex(pattern, { search: options.search === true });
  if (cache.size >= CACHED) cache.clear();
  if (pattern.length <= CACHED_LENGTH) cache.set(key, regex);
  return regex;
}
