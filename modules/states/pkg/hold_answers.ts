/**
 * The package manager's results when a state holds or releases packages.
 * Source: Salt 3008.3 `salt/states/pkg.py`, `hold` of its modules `pkg`.
 * @module
 */

import { hasFunction } from "#modules/states/_execution.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The answer for one package. */
export interface HoldAnswer {
  readonly name: string;
  readonly comment: string;
  /** `null`: in test mode, it would be changed. */
  readonly result: boolean | null;
  readonly changes: ValueMap;
}

/** The answers; one that is changed and failed is in both lists. */
export interface HoldAnswers {
  readonly modified: readonly HoldAnswer[];
  readonly unmodified: readonly HoldAnswer[];
  readonly failed: readonly HoldAnswer[];
}

/** The reason why nothing was held. */
export interface HoldProblem {
  readonly problem: string;
  /** Whether the package manager could not even be asked. */
  readonly isError: boolean;
}

const NONE: HoldAnswers = { modified: [], unmodified: [], failed: [] };

/**
 * Holds or releases packages as the keyword `hold` of a state says; without it nothing is done.
 * @param named Keywords that name the packages.
 */
export async function setHolds(
  kwargs: ValueMap,
  named: ValueMap,
  context: StateContext,
): Promise<HoldAnswers | HoldProblem> {
  if (!kwargs.has("hold") || !await hasFunction("pkg.hold", context)) return NONE;
  let answers: Value;
  try {
    answers = await context.call(truthy(kwargs.get("hold")) ? "pkg.hold" : "pkg.unhold", [], named);
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof InvocationError)) throw error;
    return { problem: error.message, isError: true };
  }
  if (!isMap(answers)) return NONE;
  if (answers.has("result") && !truthy(answers.get("result"))) {
    const comment = str(answers.get("comment") ?? "");
    return { problem: `An error was encountered while holding/unholding package(s): ${comment}`, isError: false };
  }
  const all = [...answers].map(([name, answer]) => parseAnswer(str(name), answer));
  return {
    modified: all.filter(({ changes }) => changes.size > 0),
    unmodified: all.filter(({ changes, result }) => changes.size === 0 && result),
    failed: all.filter(({ result }) => !result),
  };
}

function parseAnswer(key: string, answer: Value): HoldAnswer {
  const fields = mapOrEmpty(answer);
  const [result, changes] = [fields.get("result") ?? null, fields.get("changes")];
  return {
    name: str(fields.get("name") ?? key),
    comment: str(fields.get("comment") ?? ""),
    result: result === null ? null : truthy(result),
    changes: mapOrEmpty(changes),
  };
}
