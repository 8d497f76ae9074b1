/**
 * Matching grains and pillar: `os:Debian`, `ec2_tags:role:web*`. The levels before a value are separated by a
 * delimiter, and the value may contain it: all ways to divide the expression are tried, the deepest level first.
 * Source: Salt 3008.3 `salt/utils/data.py`, subdict_match.
 * @module
 */

import { RegexError } from "#lib/errors.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { DEFAULT_TARGET_DELIM, traverse } from "#lib/yaml/traverse.ts";
import { yamlifyArg } from "#lib/yaml/arguments.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { Budget } from "./budget.ts";
import { type Facts, factsOf } from "./facts.ts";

/** How a value is compared: as a shell pattern, from its start as a regular expression, or as it is; never by case. */
export type Comparison = "glob" | "pcre" | "exact";

/** Whether a text, in lower case, fits. */
type TextTest = (text: string, budget: Budget) => boolean;

/** A compiled expression. */
export class DataExpression {
  readonly #expression: string;
  readonly #delimiter: string;
  readonly #comparison: Comparison;
  /** The ends of the expression as tests, compiled when they are first needed. */
  readonly #tests = new Map<string, TextTest>();

  /** @param options.delimiter Must not be empty. */
  constructor(expression: string, options: { readonly delimiter: string; readonly comparison: Comparison }) {
    this.#expression = expression;
    this.#delimiter = options.delimiter;
    this.#comparison = options.comparison;
  }

  /** The reason why no value can match; `undefined` if a value can match. */
  get problem(): string | undefined {
    const steps = this.#expression.split(this.#delimiter);
    if (steps.length === 1) return `${this.#expression} has no "${this.#delimiter}" between a key and a value`;
    if (this.#comparison !== "pcre") return undefined;
    let problem = "";
    for (let i = 1; i < steps.length; i++) {
      try {
        pythonRegex(steps.slice(i).join(this.#delimiter).toLowerCase());
        return undefined;
      } catch (error) {
        if (!(error instanceof RegexError)) throw error;
        problem ||= error.message;
      }
    }
    return problem;
  }

  /**
   * Whether the facts of a minion match.
   * @throws {TooCostlyError}
   */
  matches(facts: Facts): boolean {
    return this.#inFacts(facts, { expression: this.#expression, delimiter: this.#delimiter }, new Budget());
  }

  #inFacts(
    facts: Facts,
    { expression, delimiter }: { readonly expression: string; readonly delimiter: string },
    budget: Budget,
  ): boolean {
    const steps = expression.split(delimiter);
    for (let i = steps.length - 1; i > 0; i--) {
      const path = steps.slice(0, i).join(delimiter);
      budget.spend(expression.length);
      // A star on the first level matches every key; it is handled below.
      const fact = path === "*" ? facts.whole() : valueAt(facts, { steps, path, delimiter });
      const pattern = path === "*" ? expression : steps.slice(i).join(delimiter);
      if (fact !== undefined && this.#inValue(fact, pattern, budget)) return true;
    }
    return false;
  }

  #inValue(value: Value, pattern: string, budget: Budget): boolean {
    if (isMap(value)) return value.size > 0 && this.#inMap(value, pattern, budget);
    if (!Array.isArray(value)) return this.#fits(value, pattern, budget);
    return value.some((member) =>
      (isMap(member) && this.#inMap(member, pattern, budget)) || this.#fits(member, pattern, budget)
    );
  }

  /** A key of the map, or something below it; after `*:` the values of the map as well. */
  #inMap(map: ValueMap, whole: string, budget: Budget): boolean {
    const everyKey = whole.startsWith("*:");
    const pattern = everyKey ? whole.slice(2) : whole;
    if (pattern === "*" || map.has(pattern)) return true;
    for (const key of map.keys()) if (this.#fits(key, pattern, budget)) return true;
    if (this.#inFacts(factsOf(map), { expression: pattern, delimiter: DEFAULT_TARGET_DELIM }, budget)) return true;
    if (!everyKey) return false;
    for (const value of map.values()) {
      const fits = isMap(value)
        ? this.#inMap(value, pattern, budget)
        : Array.isArray(value)
        ? value.some((member) => this.#fits(member, pattern, budget))
        : this.#fits(value, pattern, budget);
      if (fits) return true;
    }
    return false;
  }

  #fits(value: Value, pattern: string, budget: Budget): boolean {
    let test = this.#tests.get(pattern);
    if (test === undefined) this.#tests.set(pattern, test = textTest(pattern.toLowerCase(), this.#comparison));
    const text = str(value).toLowerCase();
    budget.spend(1 + text.length);
    return test(text, budget);
  }
}

/** The value at the path, of which only the first key is read. */
function valueAt(
  facts: Facts,
  { steps: [first], path, delimiter }: { readonly steps: readonly string[]; readonly path: string; delimiter: string },
): Value | undefined {
  const top = facts.get(first);
  if (top !== undefined) return traverse(new Map([[first, top]]), path, delimiter);
  // The key may be a number or the like.
  return yamlifyArg(first) === first ? undefined : traverse(facts.whole(), path, delimiter);
}

function textTest(pattern: string, comparison: Comparison): TextTest {
  if (comparison === "exact") return (text) => text === pattern;
  if (comparison === "glob") {
    const test = compileGlob(pattern);
    // With several stars, each may be tried at each place.
    const perCharacter = pattern.split("*").length > 2 ? pattern.length : 1;
    return (text, budget) => {
      budget.spend(text.length * perCharacter);
      return test(text);
    };
  }
  let regex;
  try {
    regex = pythonRegex(pattern);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    // Another way to divide the expression may give a pattern that can be read.
    return () => false;
  }
  return (text, budget) => {
    try {
      return regex.test(text);
    } catch (error) {
      // Too many steps for one text: counted below.
      if (!(error instanceof RegexError)) throw error;
      return false;
    } finally {
      budget.spend(regex.spent);
    }
  };
}
