/**
 * A list as operators write it.
 * Source: Salt 3008.3 `salt/utils/args.py`, `split_input`.
 * @module
 */

import { strip } from "./python_text.ts";
import { str, type Value } from "./value.ts";

/** The texts of a list, or of anything else the parts between commas without the white space around them. */
export function splitInput(input: Value): string[] {
  return Array.isArray(input) ? input.map(str) : str(input).split(",").map(strip);
}
