/**
 * The high data of several SLS files joined into one: every ID may be in one of them only.
 * Source: Salt 3008.3, `BaseHighState.merge_included_states`, `clean_duplicate_extends` of `salt/state.py`.
 * @module
 */

import { listUnder } from "#lib/values/shape.ts";
import type { CompileError } from "./compile_error.ts";
import { renderedText, slsOf } from "./high.ts";
import type { Places } from "./place.ts";
import { equals, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Adds the high data of a file to `high`; an ID that is there already is replaced, with an error. */
export function mergeFile(high: ValueMap, file: ValueMap, places: Places): CompileError[] {
  const errors: CompileError[] = [];
  for (const key of ["__extend__", "__exclude__"]) {
    const items = file.get(key);
    file.delete(key);
    if (Array.isArray(items)) listUnder(high, key).push(...items);
  }
  for (const [id, body] of file) {
    const existing = high.get(id);
    if (existing !== undefined && !equals(existing, body)) {
      const text = "Detected conflicting IDs, SLS IDs need to be globally unique.\n    The conflicting ID is " +
        `'${str(id)}' and is found in SLS '${fileOf(existing)}' and SLS '${fileOf(body)}'`;
      errors.push({ text, place: places.of(body) });
    }
    high.set(id, body);
  }
  return errors;
}

/** The second error of a file that rendered to no map. */
export function notMergeable(data: Value): CompileError {
  return { text: `Error when rendering state with contents: ${renderedText(data)}`, repeats: true };
}

function fileOf(body: Value): string {
  return `${isMap(body) ? str(body.get("__env__") ?? "base") : "base"}:${slsOf(body)}`;
}

/** Makes `__extend__` a list of maps of one ID each. */
export function splitExtends(high: ValueMap): void {
  const extensions = high.get("__extend__");
  if (!Array.isArray(extensions)) return;
  const split = extensions.flatMap((extension) => isMap(extension) ? [...extension] : []);
  high.set("__extend__", split.map(([id, body]) => new Map([[id, body]])));
}
