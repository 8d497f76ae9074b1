/**
 * The turns of one job: which of its moments are over, which is next, and which of them it runs. Pure rules over a
 * state: the clock is an argument.
 *
 * An interval counts from its planned moments, not from the looks at the clock, so that it does not drift.
 * Source: Salt 3008.3 `salt/utils/schedule.py` eval, whose drift, lost `when` and repeated `once` are not copied.
 * @module
 */

import type { MissedPolicy, ScheduledJob, ScheduleSettings } from "./entry.ts";
import { judge, type SkipReason, type Verdict } from "./limits.ts";
import { rangeOn } from "./ranges.ts";

/** The history and the next moment of one job. Moments are milliseconds since the epoch. */
export interface JobState {
  /** A moment of the grid of an interval. */
  anchor: number;
  /** The moments up to this one are over; without splay. */
  cursor: number;
  /** The next moment, with its splay; `undefined`: none is planned yet, or there is none. */
  planned: number | undefined;
  /** The splay of that moment. */
  delay: number;
  /** Whether the run at the start is still to come. */
  startPending: boolean;
  /** The moments of `postpone_job`, and those after skipped ranges. */
  explicit: number[];
  /** The moments of `skip_job`. */
  skips: number[];
  lastRun: number | undefined;
  /** Why it did not run the last time, and when that was; `undefined` since it has run. */
  skipped: { readonly reason: SkipReason; readonly at: number } | undefined;
  /** Whether it will never run again. */
  over: boolean;
}

/** What a turn is taken with. */
export interface TurnSetting {
  /** The present. */
  readonly nowMs: number;
  readonly settings: ScheduleSettings;
  /** In [0, 1), for the splay. */
  random(): number;
  /** Whether so many runs of the job are running that it may not start. */
  isFull(job: ScheduledJob): boolean;
}

/** What a turn starts of one job, and why. */
export interface DueRun {
  /** The moment that it was planned for. */
  readonly moment: number;
  /** `start`: the run at the start. */
  readonly why: "start" | "time" | "explicit";
  /** How many runs: more than one only with `missed: run`. */
  readonly times: number;
  /** How many moments passed before it while the job could not run. */
  readonly missed: number;
  /** The function that runs in place of the job's own. */
  readonly instead: string | undefined;
}

/** A moment that is over by more than this was missed; until then the job is late. */
const LATE_MS = 60_000;

/** Runs of one turn at most (`missed: run`). */
const MOST_RUNS = 100;

/** Dates of the last second belong to a start, as in Salt. */
const BEFORE_START_MS = 1_000;

/** The state of a job that was not there before. */
export function newState(job: ScheduledJob, nowMs: number): JobState {
  const isDate = job.timing.kind === "when" || job.timing.kind === "once";
  return {
    anchor: nowMs,
    cursor: isDate ? nowMs - BEFORE_START_MS - 1 : nowMs,
    planned: undefined,
    delay: 0,
    startPending: job.runOnStart,
    explicit: [...job.explicit],
    skips: [...job.skips],
    lastRun: undefined,
    skipped: undefined,
    over: false,
  };
}

/** Plans the next moment, unless one is planned; `undefined`: there is none. */
export function planNext(job: ScheduledJob, state: JobState, random: () => number): number | undefined {
  if (state.over) return undefined;
  if (state.planned !== undefined) return state.planned;
  const base = job.timing.next(state.cursor, state.anchor);
  if (base === undefined) return undefined;
  state.delay = job.splay?.delay(random) ?? 0;
  return state.planned = base + state.delay;
}

/**
 * The job was read again, and its dates may be others: then its next moment is planned anew.
 * @param isSplayed Whether its splay is the same.
 */
export function planAgain(job: ScheduledJob, state: JobState, { isSplayed }: { readonly isSplayed: boolean }): void {
  if (state.planned === undefined) return;
  const base = job.timing.next(state.cursor, state.anchor);
  if (!isSplayed || base === undefined || base + state.delay !== state.planned) state.planned = undefined;
}

/** Brings the state to the present, and returns what is due. */
export function takeTurn(job: ScheduledJob, state: JobState, setting: TurnSetting): DueRun[] {
  const due: DueRun[] = [];
  const isStart = state.startPending;
  state.startPending = false;
  // As in Salt, ranges and dates are not asked for the run at the start.
  if (isStart && isEnabled(job, setting)) {
    due.push({ moment: setting.nowMs, why: "start", times: 1, missed: 0, instead: undefined });
  } else if (isStart) state.skipped = { reason: "disabled", at: setting.nowMs };
  takeExplicit(job, state, setting, due);
  const runs = takeMoments(job, state, setting);
  if (runs !== undefined && (!isStart || runs.times > 1)) due.push(runs);
  planNext(job, state, setting.random);
  return admit(job, state, setting, due);
}

function isEnabled(job: ScheduledJob, { settings }: TurnSetting): boolean {
  return settings.enabled && job.enabled;
}

/** The limit of running ones is asked last, as in Salt. */
function admit(job: ScheduledJob, state: JobState, setting: TurnSetting, due: DueRun[]): DueRun[] {
  if (due.length === 0) return due;
  if (job.jidInclude && setting.isFull(job)) {
    state.skipped = { reason: "maxrunning", at: setting.nowMs };
    return [];
  }
  state.lastRun = setting.nowMs;
  state.skipped = undefined;
  // One turn starts a job once, whatever it is due for.
  return [due.reduce((most, run) => run.times > most.times || run.missed > most.missed ? run : most)];
}

function takeExplicit(job: ScheduledJob, state: JobState, setting: TurnSetting, due: DueRun[]): void {
  const { nowMs } = setting;
  const over = state.explicit.filter((moment) => moment <= nowMs);
  if (over.length === 0) return;
  state.explicit = state.explicit.filter((moment) => moment > nowMs);
  const moment = Math.max(...over);
  if (nowMs - moment > LATE_MS) {
    state.skipped = { reason: "missed", at: nowMs };
    return;
  }
  const verdict = judge(job, moment, { settings: setting.settings, skips: state.skips });
  if (verdict.reason !== undefined) {
    state.skipped = { reason: verdict.reason, at: nowMs };
    return;
  }
  due.push({ moment, why: "explicit", times: 1, missed: 0, instead: verdict.instead });
  if (job.timing.kind === "interval") countFrom(state, moment);
}

/** An interval counts from this moment on. */
export function countFrom(state: JobState, moment: number): void {
  state.anchor = state.cursor = moment;
  state.planned = undefined;
}

/** The moments of its time that are over. */
function takeMoments(job: ScheduledJob, state: JobState, setting: TurnSetting): DueRun | undefined {
  const { nowMs } = setting;
  let planned = planNext(job, state, setting.random);
  while (planned !== undefined && planned <= nowMs) {
    const { count, last } = job.timing.passed(state.cursor, nowMs - state.delay, state.anchor);
    const base = last ?? planned - state.delay, moment = base + state.delay;
    const runs = runsOf(job.missed ?? defaultPolicy(job), { count, isMissed: nowMs - moment > LATE_MS });
    const verdict = judge(job, nowMs - moment > LATE_MS ? nowMs : moment, {
      settings: setting.settings,
      skips: state.skips,
    });
    if (verdict.waits === true && verdict.from !== undefined && job.timing.kind === "interval") {
      state.skipped = { reason: verdict.reason ?? "not_in_range", at: nowMs };
      waitFor(state, verdict.from);
      planned = verdict.from;
      continue;
    }
    goOn(job, state, { base, moment });
    state.skips = state.skips.filter((skip) => skip > moment - LATE_MS);
    if (verdict.reason !== undefined) {
      state.skipped = { reason: verdict.reason, at: nowMs };
      if (verdict.reason === "in_skip_range") runAfter(job, state, moment);
      if (verdict.never === true) state.over = true;
      return undefined;
    }
    if (runs === 0) {
      state.skipped = { reason: "missed", at: nowMs };
      return undefined;
    }
    const missed = count - (nowMs - moment > LATE_MS ? 0 : 1);
    return { moment, why: "time", times: runs, missed, instead: verdict.instead };
  }
  return undefined;
}

/** The moments up to `base` are over. As in Salt, an interval counts from the delayed run if its splay changes. */
function goOn(
  job: ScheduledJob,
  state: JobState,
  { base, moment }: { readonly base: number; readonly moment: number },
): void {
  state.planned = undefined;
  state.cursor = base;
  if (job.timing.kind === "interval" && job.splay?.isStable === false) countFrom(state, moment);
}

/** An interval outside of its range waits for it, and counts from its start. */
export function waitFor(state: JobState, from: number): void {
  state.anchor = from;
  state.cursor = from - 1;
  state.planned = from;
  state.delay = 0;
}

function defaultPolicy(job: ScheduledJob): MissedPolicy {
  return job.timing.kind === "interval" || job.timing.kind === "cron" ? "once" : "skip";
}

/** How many runs come of `count` moments that are over; `isMissed`: the last of them too is over for long. */
function runsOf(
  policy: MissedPolicy,
  { count, isMissed }: { readonly count: number; readonly isMissed: boolean },
): number {
  if (policy === "run") return Math.min(count, MOST_RUNS);
  return policy === "skip" && isMissed ? 0 : 1;
}

/** `run_after_skip_range`: a run a second after the range. */
function runAfter(job: ScheduledJob, state: JobState, moment: number): void {
  if (!job.runAfterSkip || job.skipRange === undefined) return;
  const { end } = rangeOn(job.skipRange, moment, job.zone);
  const after = end + BEFORE_START_MS;
  if (!state.explicit.includes(after)) state.explicit.push(after);
}

/** How many skipped moments are looked over for the next turn. */
const MOST_SKIPPED = 64;

/** When the turn after this one must be taken; `undefined`: never, as things stand. A disabled job needs none. */
export function wakeAt(job: ScheduledJob, state: JobState, setting: TurnSetting): number | undefined {
  const explicit = state.explicit.length === 0 ? undefined : Math.min(...state.explicit);
  if (!isEnabled(job, setting)) return undefined;
  let moment = planNext(job, state, setting.random);
  for (let i = 0; i < MOST_SKIPPED && moment !== undefined; i++) {
    const verdict = judge(job, moment, { settings: setting.settings, skips: state.skips });
    if (verdict.reason === undefined || needsTurn(job, verdict)) break;
    if (verdict.never === true) {
      moment = undefined;
      break;
    }
    const next = job.timing.next(Math.max(moment - state.delay, (verdict.from ?? 0) - state.delay - 1), state.anchor);
    moment = next === undefined ? undefined : next + state.delay;
  }
  return explicit === undefined ? moment : moment === undefined ? explicit : Math.min(explicit, moment);
}

/** Whether a moment changes the job's plan although it is skipped. */
function needsTurn(job: ScheduledJob, { reason, waits }: Verdict): boolean {
  return (waits === true && job.timing.kind === "interval") || (reason === "in_skip_range" && job.runAfterSkip);
}

/** Moves an interval by the jump of the wall clock: it counts the time that passed. */
export function shiftState(job: ScheduledJob, state: JobState, jumpMs: number): void {
  if (job.timing.kind !== "interval") return;
  state.anchor += jumpMs;
  state.cursor += jumpMs;
  if (state.planned !== undefined) state.planned += jumpMs;
}

/** Back by more than this, the clock was wrong before, and times on the wall begin again, in milliseconds. */
const WRONG_CLOCK_MS = 3 * 3_600_000;

/** The wall clock was set back: times on the wall that have run do not run again, unless the clock was far off. */
export function setBack(job: ScheduledJob, state: JobState, { nowMs, jumpMs }: {
  readonly nowMs: number;
  readonly jumpMs: number;
}): void {
  if (job.timing.kind === "interval" || -jumpMs <= WRONG_CLOCK_MS) return;
  state.cursor = nowMs;
  state.planned = undefined;
}
