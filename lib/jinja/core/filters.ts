/**
 * All of Jinja's own filters.
 * Source: jinja2 3.1, "List of Builtin Filters".
 * @module
 */

import { pformat } from "#lib/values/pformat.ts";
import { getAttribute, hasPrivateAttribute } from "#lib/python/attributes.ts";
import { isTruthy, textOf, typeDescription } from "#lib/python/kinds.ts";
import { native } from "#lib/python/native.ts";
import type { Obj, Run } from "#lib/python/object.ts";
import { isPlain } from "#lib/python/plain.ts";
import { reprOf } from "#lib/python/repr.ts";
import { HTML_FILTERS } from "./filters_html.ts";
import { NUMBER_FILTERS } from "./filters_number.ts";
import { SEQUENCE_FILTERS } from "./filters_sequence.ts";
import { TEXT_FILTERS } from "./filters_text.ts";
import { Undefined } from "./undefined.ts";

const defaultFilter = native(
  "do_default",
  ["value", ["default_value", ""], ["boolean", false]],
  ([value, fallback, boolean]) => {
    if (value instanceof Undefined) return fallback;
    return isTruthy(boolean) && !isTruthy(value) ? fallback : value;
  },
);

/** The filters by name. */
export const JINJA_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ...NUMBER_FILTERS,
  ...TEXT_FILTERS,
  ...SEQUENCE_FILTERS,
  ...HTML_FILTERS,
  [
    "attr",
    native("do_attr", ["obj", "name"], ([obj, name], { context }) => {
      const key = textOf(name) ?? reprOf(name);
      if (getAttribute(obj, key) !== undefined || hasPrivateAttribute(obj, key)) return context.attribute(obj, key);
      return context.undefined(`${reprOf(typeDescription(obj))} has no attribute ${reprOf(key)}`, key);
    }),
  ],
  ["d", defaultFilter],
  ["default", defaultFilter],
  [
    "pprint",
    native("do_pprint", ["value"], ([value]) => value instanceof Undefined ? "Undefined" : prettyText(value)),
  ],
]);

/** Values of Salt are wrapped as Python does; what has tuples and the like in it depends on one line. */
function prettyText(value: Obj): string {
  return isPlain(value) ? pformat(value) : reprOf(value);
}
