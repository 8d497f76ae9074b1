/**
 * Whether a job may run at a moment: `range`, `skip_during_range`, `skip_job`, `until`, `after`, and whether it and the
 * schedule are enabled.
 *
 * Every limit must allow it. Salt lets the last one that is asked decide, so that a job outside of its `range` runs if
 * its `until` has not passed.
 * Source: Salt 3008.3 `salt/utils/schedule.py` eval.
 * @module
 */

import type { ScheduledJob, ScheduleSettings } from "./entry.ts";
import { isInRange, opensAt, rangeOn } from "./ranges.ts";
import { momentOn } from "./timing.ts";
import { dayOf } from "./zone.ts";

/** Why a job did not run at a moment. `missed` is not Salt's. */
export type SkipReason =
  | "disabled"
  | "maxrunning"
  | "skip_explicit"
  | "in_skip_range"
  | "not_in_range"
  | "after_not_passed"
  | "until_passed"
  | "missed";

/** What the limits say about a moment. */
export interface Verdict {
  /** Why the job may not run; `undefined`: it may. */
  readonly reason?: SkipReason;
  /** The function that runs in its place (`skip_function`). */
  readonly instead?: string;
  /** The moment from which it may run, as far as this limit says; absent: that is not known, or never. */
  readonly from?: number;
  /** Whether an interval waits for `from`, and counts from there. */
  readonly waits?: boolean;
  /** Whether it will never run again. */
  readonly never?: boolean;
}

/** How long after a time that `skip_job` names a run counts as that one, in milliseconds. */
const EXPLICIT_MS = 1_000;

const MAY_RUN: Verdict = {};

/** What the limits say about a moment of a job. `skips`: the moments that `skip_job` named. */
export function judge(
  job: ScheduledJob,
  moment: number,
  { settings, skips }: { readonly settings: ScheduleSettings; readonly skips: readonly number[] },
): Verdict {
  if (!settings.enabled || !job.enabled) return { reason: "disabled" };
  const instead = (verdict: Verdict): Verdict =>
    settings.skipFunction === undefined ? verdict : { instead: settings.skipFunction };
  return judgeDates(job, moment) ?? judgeRange(job, moment, instead) ?? judgeSkips(job, moment, { instead, skips }) ??
    MAY_RUN;
}

/** `until` and `after`: from the first on not, until the second not, both ends included. */
function judgeDates(job: ScheduledJob, moment: number): Verdict | undefined {
  const day = dayOf(job.zone.wall(moment));
  if (job.until !== undefined && momentOn(job.until, day, job.zone) <= moment) {
    const isDate = job.until.year !== undefined;
    return { reason: "until_passed", ...isDate && { never: true } };
  }
  if (job.after === undefined) return undefined;
  const after = momentOn(job.after, day, job.zone);
  return after >= moment ? { reason: "after_not_passed", from: after + 1 } : undefined;
}

function judgeRange(job: ScheduledJob, moment: number, instead: (verdict: Verdict) => Verdict): Verdict | undefined {
  const { range } = job;
  if (range === undefined || isInRange(range, moment, job.zone) !== range.invert) return undefined;
  const from = opensAt(range, moment, job.zone);
  const verdict: Verdict = from === undefined
    ? { reason: "not_in_range", never: true }
    : { reason: range.invert ? "in_skip_range" : "not_in_range", from, waits: true };
  return range.invert ? verdict : instead(verdict);
}

function judgeSkips(
  job: ScheduledJob,
  moment: number,
  { instead, skips }: { readonly instead: (verdict: Verdict) => Verdict; readonly skips: readonly number[] },
): Verdict | undefined {
  if (job.skipRange !== undefined && isInRange(job.skipRange, moment, job.zone)) {
    return instead({ reason: "in_skip_range", from: rangeOn(job.skipRange, moment, job.zone).end + 1 });
  }
  const isSkipped = skips.some((skip) => skip <= moment && moment <= skip + EXPLICIT_MS);
  return isSkipped ? instead({ reason: "skip_explicit" }) : undefined;
}
