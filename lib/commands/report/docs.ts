/**
 * Merges the documentation that minions returned for `sys.doc`.
 * @module
 */

import { hasReturned } from "#lib/protocol/outcome.ts";
import type { Answer } from "./answers.ts";
import { compare, isMap, truthy, type Value } from "#lib/values/value.ts";

/** The result of {@linkcode mergedDocs}. */
export interface MergedDocs {
  /** Documentation by function, sorted; if minions differ, the first counts. */
  readonly docs: [Value, Value][];
  /** The minions that returned something else; if none returned documentation, also those that did not return. */
  readonly failures: Answer[];
}

/** Merges the answers to `sys.doc`. */
export function mergedDocs(all: readonly Answer[]): MergedDocs {
  const docs = new Map<Value, Value>();
  const failures: Answer[] = [];
  for (const answer of all) {
    if (!isMap(answer.return)) {
      failures.push(answer);
      continue;
    }
    for (const [name, doc] of answer.return) if (!docs.has(name) && truthy(doc)) docs.set(name, doc);
  }
  const answered = all.some(({ outcome, return: returned }) => hasReturned(outcome) && isMap(returned));
  return {
    docs: [...docs].sort(([a], [b]) => compare(a, b)),
    failures: failures.filter(({ outcome }) => hasReturned(outcome) || !answered),
  };
}
