/**
 * Moments in Python's formats: `once`, `skip_job`, `postpone_job`.
 * @module
 */

import { strptime } from "#lib/text/strptime.ts";
import { str, type Value } from "#lib/values/value.ts";
import type { TimeZone } from "./zone.ts";

/**
 * The moment that `text` means in `zone`, in milliseconds since the epoch.
 * @param format A format of Python's `strptime`.
 * @returns `undefined` if the text is not of the format.
 */
export function readTimeText(text: Value, format: Value, zone: TimeZone): number | undefined {
  if (typeof text !== "string" || text.length > 100) return undefined;
  const clock = strptime(text, str(format));
  return clock === undefined ? undefined : zone.moment(clock.seconds * 1000);
}
