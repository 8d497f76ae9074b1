/**
 * What people are told besides the errors that a function returns: the place of a mistake, the nearest name. The return
 * itself has Salt's texts, because programs compare them; the details are a field beside it, for outputters that people
 * read. Python Salt ignores the field.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import type { Value } from "#lib/values/value.ts";

/** The field of a return: a text for each error, in their order; empty for none. */
export const ERROR_DETAILS = "error_details";

/** Reads the field of a return. `undefined`: there are none, or they do not belong to what was returned. */
export function readErrorDetails(details: Value | undefined, returned: Value): readonly string[] | undefined {
  if (!Array.isArray(details) || !Array.isArray(returned) || details.length !== returned.length) return undefined;
  return details.every((detail) => typeof detail === "string") ? details : undefined;
}

/** An error with its details in lines below it; as it is without any. */
export function withDetails(error: string, details: string): string {
  return details === "" ? error : `${rstripChars(error, "\n")}\n${details}`;
}

/** Errors, each with its details. Anything else is returned as it is. */
export function withErrorDetails(returned: Value, details: readonly string[]): Value {
  if (!Array.isArray(returned) || details.length !== returned.length) return returned;
  return returned.map((error, i) => typeof error === "string" ? withDetails(error, details[i]) : error);
}
