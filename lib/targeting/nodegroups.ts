/**
 * Node groups: names for compound targets, in the master's configuration. A group may name other groups (`N@name`).
 * Source: Salt 3008.3 `salt/utils/minions.py`, nodegroup_comp.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

/** The words between terms. */
export const TARGET_OPERATORS: ReadonlySet<string> = new Set(["and", "or", "not", "(", ")"]);

/** Maximum number of words of a group after its groups are written out: each of them may name several others. */
const MAX_WORDS = 10_000;

/**
 * The words of a compound target with its groups written out, each in parentheses.
 * @throws {TargetError} For a group that is not configured, and for one that contains itself.
 */
export function withoutNodegroups(words: readonly string[], nodegroups: ValueMap): string[] {
  return new Expansion(nodegroups).expand(words, []);
}

class Expansion {
  readonly #nodegroups: ValueMap;
  #count = 0;

  constructor(nodegroups: ValueMap) {
    this.#nodegroups = nodegroups;
  }

  expand(words: readonly string[], inside: readonly string[]): string[] {
    return words.flatMap((word) => {
      if (++this.#count > MAX_WORDS) throw unreadable(`The node group ${inside[0]} has more than ${MAX_WORDS} words`);
      const name = /^N@(.+)$/s.exec(word)?.[1];
      return name === undefined ? [word] : this.#group(name, inside);
    });
  }

  #names(): string[] {
    return [...this.#nodegroups.keys()].map(str);
  }

  /** The group that was probably meant, else those that are there. */
  #hint(name: string): string {
    const names = this.#names();
    return didYouMean(name, names) || `, which has ${names.length === 0 ? "none" : truncateList(names)}`;
  }

  #group(name: string, inside: readonly string[]): string[] {
    const path = [...inside, name];
    if (inside.includes(name)) throw unreadable(`The node group ${name} contains itself: ${path.join(" > ")}`);
    const group = this.#nodegroups.get(name);
    if (group === undefined) {
      throw unreadable(`Node group ${name} is not in the configuration${this.#hint(name)}`);
    }
    if (typeof group !== "string" && !Array.isArray(group)) {
      throw unreadable(`The node group ${name} is neither a text nor a list`);
    }
    const words = (typeof group === "string" ? [group] : group.map(str)).flatMap(splitCompound);
    const expanded = this.expand(asOneTerm(words), path);
    return expanded.length === 1 ? expanded : ["(", ...expanded, ")"];
  }
}

/** The words of a compound target, which blanks separate. */
export function splitCompound(text: string): string[] {
  return splitWhitespace(text);
}

/** Bare words are a list of ids, or a regular expression if they look like one. */
function asOneTerm(words: readonly string[]): readonly string[] {
  const isCompound = words.some((word) => TARGET_OPERATORS.has(word) || word.includes("*") || /^[A-Z]@/.test(word));
  if (isCompound) return words;
  return [`${words.some((word) => /[([{\\?}\])]/.test(word)) ? "E" : "L"}@${words.join(",")}`];
}

function unreadable(message: string): TargetError {
  return new TargetError(message, "nodegroup");
}
