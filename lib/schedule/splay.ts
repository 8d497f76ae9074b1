/**
 * The splay of a job: how much later than its moment it runs.
 *
 * Salt throws it for each run. `auto` is the same for a minion each time: its id decides, so that ten thousand minions
 * with one time spread evenly, and a minion's runs keep their distance.
 * Source: Salt 3008.3 `salt/utils/schedule.py` _splay.
 * @module
 */

import { hashBytes } from "#lib/crypto/hash.ts";
import { ScheduleEntryError } from "#lib/errors.ts";
import { isMap, str, toNumber, truthy, type Value } from "#lib/values/value.ts";
import type { JobTiming } from "./timing.ts";

/** How much later than its moments a job runs. */
export interface Splay {
  /** Whether each run has the same. Then an interval keeps its grid. */
  readonly isStable: boolean;
  /** The delay of one run, in milliseconds. `random` is in [0, 1). */
  delay(random: () => number): number;
}

/** The width of `splay: auto`, in seconds; an interval that is shorter has its own. */
const AUTO_WIDTH_S = 600;

/**
 * Reads `splay`: a number of seconds, `{start, end}`, `auto`, or `{start, end, auto: true}`.
 * @throws {ScheduleEntryError}
 */
export function readSplay(
  value: Value,
  { id, timing, ignoring }: { readonly id: string; readonly timing: JobTiming; readonly ignoring: string },
): Splay | undefined {
  if (!truthy(value)) return undefined;
  if (value === "auto") {
    const width = Math.min(AUTO_WIDTH_S, (timing.stepMs ?? Infinity) / 1000);
    return stableSplay(id, 0, width - 1);
  }
  const [start, end] = isMap(value)
    ? [seconds(value.get("start"), ignoring), seconds(value.get("end"), ignoring)]
    : [1, seconds(value, ignoring)];
  if (end < start || start < 0) {
    throw new ScheduleEntryError(`Invalid Splay, end must be larger than start. ${ignoring}`);
  }
  if (isMap(value) && truthy(value.get("auto"))) return stableSplay(id, start, end);
  return {
    isStable: start === end && start === 0,
    delay: (random) => (start + Math.floor(random() * (end - start + 1))) * 1000,
  };
}

function stableSplay(id: string, start: number, end: number): Splay {
  const digest = hashBytes(`schedule ${id}`, "sha256");
  const share = new DataView(digest.buffer, digest.byteOffset, 4).getUint32(0) / 2 ** 32;
  const delay = Math.floor((start + share * (end - start + 1)) * 1000);
  return { isStable: true, delay: () => delay };
}

function seconds(value: Value | undefined, ignoring: string): number {
  const number = toNumber(value);
  if (number === undefined || !Number.isFinite(number)) {
    throw new ScheduleEntryError(`Invalid Splay: ${str(value ?? null)} is no number of seconds. ${ignoring}`);
  }
  return Math.trunc(number);
}
