/**
 * Compound targets: terms joined by `and`, `or`, `not` and parentheses. `not` binds tighter than `and`, and `and`
 * tighter than `or`; `a not b` is `a and not b`.
 * Source: Salt 3008.3 `salt/matchers/compound_match.py`, `salt/utils/minions.py`.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { TARGET_OPERATORS } from "./nodegroups.ts";
import { type MakeTerm, type Term, type TermOptions, TERMS } from "./term.ts";

/** A condition: a term, or several conditions joined. */
export type Condition =
  | { readonly op: "term"; readonly term: Term }
  | { readonly op: "not"; readonly of: Condition }
  | { readonly op: "and" | "or"; readonly of: readonly Condition[] };

/** Maximum nesting of parentheses, and maximum number of terms: each may be checked for every minion. */
const MAX_DEPTH = 100, MAX_TERMS = 1_000;

/** The letters of terms; a term without one is a glob. */
const LETTERS: Readonly<Record<string, MakeTerm>> = {
  G: TERMS.grain,
  P: TERMS.grain_pcre,
  I: TERMS.pillar,
  J: TERMS.pillar_pcre,
  L: TERMS.list,
  S: TERMS.ipcidr,
  E: TERMS.pcre,
  // The minion that manages resources: the minion of that id, as no resources are built.
  M: (tgt) => ({ about: "id", matches: (id) => id === tgt }),
};

/** The letters of terms that cannot be resolved, with the reason. */
const UNRESOLVED: Readonly<Record<string, string>> = {
  N: "node groups are written out before",
  R: "there is no range server: range targets are not built",
  T: "resources are not built",
};

/** A letter, for the first four of them a delimiter of one character, and the pattern. */
const TERM = /^(?:(?:([GPIJ])(.)?|([LNSERTM]))@)?(.+)$/s;

/**
 * Reads the words of a compound target.
 * @throws {TargetError} If they do not form a condition.
 */
export function parseCompound(words: readonly string[], options: TermOptions): Condition {
  return new Parser(words, options).parse();
}

class Parser {
  readonly #words: readonly string[];
  readonly #options: TermOptions;
  #at = 0;
  #terms = 0;

  constructor(words: readonly string[], options: TermOptions) {
    this.#words = words;
    this.#options = options;
  }

  parse(): Condition {
    const condition = this.#either(MAX_DEPTH);
    if (this.#at < this.#words.length) {
      const word = this.#words[this.#at];
      this.#fail(`unexpected "${word}"${didYouMean(word, ["and", "or", "not"])}`);
    }
    return condition;
  }

  /** Skips the next word if it is `word`. */
  #takes(word: string): boolean {
    if (this.#words[this.#at] !== word) return false;
    this.#at++;
    return true;
  }

  #either(depth: number): Condition {
    const of = [this.#all(depth)];
    while (this.#takes("or")) of.push(this.#all(depth));
    return of.length === 1 ? of[0] : { op: "or", of };
  }

  #all(depth: number): Condition {
    const of = [this.#one(depth)];
    while (this.#takes("and") || this.#words[this.#at] === "not") of.push(this.#one(depth));
    return of.length === 1 ? of[0] : { op: "and", of };
  }

  #one(depth: number): Condition {
    if (!this.#takes("not")) return this.#plain(depth);
    return { op: "not", of: this.#plain(depth) };
  }

  #plain(depth: number): Condition {
    if (this.#takes("(")) {
      if (depth === 0) this.#fail(`more than ${MAX_DEPTH} parentheses within each other`);
      const condition = this.#either(depth - 1);
      if (!this.#takes(")")) this.#fail("a parenthesis is not closed");
      return condition;
    }
    const word = this.#words[this.#at];
    if (word === undefined) this.#fail("a term is missing at the end");
    if (TARGET_OPERATORS.has(word)) this.#fail(`a term is missing before "${word}"`);
    this.#at++;
    if (++this.#terms > MAX_TERMS) this.#fail(`more than ${MAX_TERMS} terms`);
    return { op: "term", term: this.#term(word) };
  }

  #term(word: string): Term {
    const [, dataLetter, delimiter, idLetter, pattern] = TERM.exec(word) ?? ["", undefined, undefined, undefined, word];
    const letter = dataLetter ?? idLetter;
    if (letter === undefined) return TERMS.glob(word);
    if (!Object.hasOwn(LETTERS, letter)) this.#fail(`${word}: ${UNRESOLVED[letter]}`);
    // The delimiter of the command line is for a target that is not a compound.
    return LETTERS[letter](pattern, { ...this.#options, delimiter: delimiter ?? ":" });
  }

  #fail(reason: string): never {
    throw new TargetError(`Cannot read the compound target: ${reason}`, "compound");
  }
}
