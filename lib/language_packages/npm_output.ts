/**
 * Finds the JSON in what npm prints, which may have lines of other programs before it.
 * Source: Salt 3008.3, `salt/utils/json.py` find_json.
 * @module
 */

import { toValue, type Value } from "../values/value.ts";

/** The JSON that begins at some line and goes to the end; `undefined` if there is none. */
export function findJson(text: string): Value | undefined {
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    if (!/^\s*[[{]/.test(lines[i])) continue;
    try {
      return toValue(JSON.parse(lines.slice(i).join("\n")));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}
