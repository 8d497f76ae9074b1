/**
 * Finds the JSON in the output of npm, which may have lines of other programs before it.
 * Source: Salt 3008.3, `salt/utils/json.py` find_json.
 * @module
 */

import { JsonError } from "#lib/errors.ts";
import { parseJson } from "#lib/values/json_read.ts";
import type { Value } from "#lib/values/value.ts";

/** The JSON that begins at some line and goes to the end; `undefined` if there is none. */
export function findJson(text: string): Value | undefined {
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    if (!/^\s*[[{]/.test(lines[i])) continue;
    try {
      return parseJson(lines.slice(i).join("\n"));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
    }
  }
  return undefined;
}
