/**
 * Verifies the form of a merged top.
 * Source: Salt 3008.3, `BaseHighState.verify_tops` of `salt/state.py`.
 * @module
 */

import type { CompileError } from "./compile_error.ts";
import { renderedText } from "./high.ts";
import type { Places } from "./place.ts";
import type { Top } from "./top_merge.ts";
import { isMap, repr, truthy, typeName } from "#lib/values/value.ts";

/** All mistakes in the form of `top`. */
export function verifyTop(top: Top, places: Places): CompileError[] {
  const errors: CompileError[] = [];
  for (const [env, targets] of top) {
    const name = renderedText(env);
    if (typeof env !== "string") errors.push({ text: `Environment ${name} in top file is not formed as a string` });
    if (env === "") errors.push({ text: "Empty saltenv statement in top file" });
    for (const [target, names] of targets) {
      const place = places.key(targets, target) ?? places.of(names);
      if (!Array.isArray(names)) {
        const type = isMap(names) ? "OrderedDict" : typeName(names);
        const text = `Malformed topfile: state declarations for matcher ${repr(target)} in saltenv ${repr(env)} ` +
          `are not formed as a list (got ${type})`;
        errors.push({ text, place });
        continue;
      }
      for (const item of names) {
        if (item === "") errors.push({ text: `Environment ${name} contains an empty sls index`, place });
        if (!isMap(item)) continue;
        for (const value of item.values()) {
          if (truthy(value)) continue;
          const text = `Improperly formatted top file matcher in saltenv ${renderedText(item)}: ${
            renderedText(value)
          } file`;
          errors.push({ text, place: places.of(item) ?? place });
        }
      }
    }
  }
  return errors;
}
