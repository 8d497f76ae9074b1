/**
 * The outcomes of jobs that the pool itself makes, and the fields that it forwards of those that workers report.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { ERROR_DETAILS } from "#lib/protocol/error_details.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** An outcome of a job that failed. */
export function failure(text: string): ValueMap {
  return map({ return: text, retcode: 1, success: false, out: "nested" });
}

/** The outcome for a declaration that Deno refuses, such as a path of an unknown option or an invalid host. */
export function permissionsRefused(error: unknown): ValueMap {
  return failure(`The permissions that the function declares cannot be given: ${messageOf(error)}`);
}

/** An outcome with only the known fields, and those of `more`. */
export function plainOutcome(outcome: ValueMap, more: readonly string[]): ValueMap {
  const fields = ["return", "retcode", "success", "out", ERROR_DETAILS, "threw", ...more];
  return new Map(
    fields.flatMap((field): [string, Value][] => outcome.has(field) ? [[field, outcome.get(field) ?? null]] : []),
  );
}
