/**
 * Reads the entries of a schedule: one job each, or a setting of all jobs. A broken entry has its reason, and the
 * others stay.
 * Source: Salt 3008.3 `salt/utils/schedule.py` (eval, handle_func), whose error texts operators know.
 * @module
 */

import { messageOf, ScheduleEntryError } from "#lib/errors.ts";
import { isMap, str, toNumber, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";
import { readCron } from "./cron.ts";
import { type DateText, readDateText } from "./date_text.ts";
import { checkOrder, type DayRange, readRange } from "./ranges.ts";
import { readSplay, type Splay } from "./splay.ts";
import { cronTiming, intervalTiming, type JobTiming, onceTiming, whenTiming } from "./timing.ts";
import { readTimeText } from "./moments.ts";
import { findZone, LOCAL_ZONE, type TimeZone } from "./zone.ts";

/** What happens with moments that passed while the job could not run. */
export type MissedPolicy = "run" | "once" | "skip";

/** One job of a schedule. */
export interface ScheduledJob {
  /** Its key in the schedule. */
  readonly name: string;
  /** What its returns call it: the key `name`, else its key in the schedule. */
  readonly title: string;
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
  readonly timing: JobTiming;
  readonly zone: TimeZone;
  readonly splay: Splay | undefined;
  readonly range: DayRange | undefined;
  readonly skipRange: DayRange | undefined;
  /** Whether it runs right after a skipped range. */
  readonly runAfterSkip: boolean;
  readonly after: DateText | undefined;
  readonly until: DateText | undefined;
  readonly enabled: boolean;
  readonly runOnStart: boolean;
  readonly maxrunning: number;
  /** Whether running ones are counted, and have a proc file. */
  readonly jidInclude: boolean;
  readonly dryRun: boolean;
  /** Whether the return goes to the master; `nocache`: it is not stored there. */
  readonly returnJob: boolean | "nocache";
  readonly returners: readonly string[];
  /** Joins the return; `undefined`: there is none. */
  readonly metadata: ValueMap | undefined;
  /** The moments that it skips, and those that it runs at besides, as `postpone_job` writes them. */
  readonly skips: readonly number[];
  readonly explicit: readonly number[];
  /** `undefined`: the default of its kind. */
  readonly missed: MissedPolicy | undefined;
  /** The entry as it is written. */
  readonly entry: ValueMap;
}

/** Settings of a whole schedule. */
export interface ScheduleSettings {
  readonly enabled: boolean;
  readonly splay: Value;
  readonly skipFunction: string | undefined;
  readonly skipRange: Value;
}

/** What the entries of a host are read with. */
export interface EntrySetting {
  /** The host's id, for `splay: auto`. */
  readonly id: string;
  /** A date that pillar or grains name in `whens`; `undefined`: there is none of this name. */
  whens(name: Value): Value | undefined;
  /** The present, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/** The keys of a schedule that are no jobs. */
export const SETTING_KEYS: readonly string[] = ["enabled", "splay", "skip_function", "skip_during_range"];

/** The units of an interval, in seconds. */
const UNITS: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 };

/** What an entry may say: all keys that have a meaning. */
export const JOB_KEYS: readonly string[] = [
  ...Object.keys(UNITS),
  ...["when", "cron", "once", "once_fmt", "splay", "range", "skip_during_range", "run_after_skip_range", "until"],
  ...["after", "maxrunning", "run_on_start", "return_job", "returner", "return_config", "return_kwargs", "metadata"],
  ...["jid_include", "dry_run", "enabled", "args", "kwargs", "function", "func", "fun", "name", "timezone", "missed"],
  ...["skip_explicit", "run_explicit", "run"],
];

/** Python's `strptime` format of the times in `once`, `skip_job` and `postpone_job`. */
export const TIME_FORMAT = "%Y-%m-%dT%H:%M:%S";

/** The longest interval: a hundred years, in seconds. */
const LONGEST_S = 100 * 366 * 86_400;

/** Whether a key of a schedule is a setting, not a job. */
export function isSetting(key: string): boolean {
  return SETTING_KEYS.includes(key);
}

/** The settings of a schedule. One that has the form of a job counts for nothing; {@linkcode readEntry} names it. */
export function readSettings(schedule: ValueMap): ScheduleSettings {
  const setting = (key: string): Value => {
    const value = schedule.get(key) ?? null;
    return looksLikeJob(value) ? null : value;
  };
  const skipFunction = setting("skip_function");
  return {
    enabled: schedule.get("enabled") === undefined || looksLikeJob(schedule.get("enabled") ?? null) ||
      truthy(setting("enabled")),
    splay: setting("splay"),
    skipFunction: typeof skipFunction === "string" && skipFunction !== "" ? skipFunction : undefined,
    skipRange: setting("skip_during_range"),
  };
}

/** Whether a value is written as a job is. */
export function looksLikeJob(value: Value): boolean {
  return isMap(value) && ["function", "func", "fun"].some((key) => value.has(key));
}

/**
 * Reads one job.
 * @throws {ScheduleEntryError} With the reason why it cannot run.
 */
export function readEntry(name: string, value: Value, settings: ScheduleSettings, setting: EntrySetting): ScheduledJob {
  if (isSetting(name)) {
    throw new ScheduleEntryError(`"${name}" is a setting of all jobs, and cannot be the name of a job`);
  }
  if (!isMap(value)) {
    throw new ScheduleEntryError(`Scheduled job "${name}" should have a dict value, not ${typeName(value)}`);
  }
  const field = (key: string): Value => value.get(key) ?? null;
  const title = truthy(field("name")) ? str(field("name")) : name;
  const ignoring = `Ignoring job ${title}.`;
  const fun = ["function", "func", "fun"].map(field).find((given) => given !== null);
  if (typeof fun !== "string" || fun === "") throw new ScheduleEntryError(`It names no function. ${ignoring}`);
  const zone = readZone(field("timezone"), ignoring);
  const range = readRange(field("range"), "range", ignoring);
  const skipRange = readRange(
    value.has("skip_during_range") ? field("skip_during_range") : settings.skipRange,
    "skip_during_range",
    ignoring,
  );
  for (const checked of [range, skipRange]) checkOrder(checked, { zone, nowMs: setting.nowMs, ignoring });
  const timing = readTiming(value, { zone, setting, ignoring });
  return {
    name,
    title,
    fun,
    args: readArgs(field("args"), ignoring),
    kwargs: readKwargs(field("kwargs"), ignoring),
    timing,
    zone,
    splay: readSplay(value.has("splay") ? field("splay") : settings.splay, { id: setting.id, timing, ignoring }),
    range,
    skipRange,
    runAfterSkip: truthy(field("run_after_skip_range")),
    after: readLimit(field("after"), "after", ignoring),
    until: readLimit(field("until"), "until", ignoring),
    enabled: value.get("enabled") === undefined || truthy(field("enabled")),
    runOnStart: value.get("run_on_start") === undefined ? timing.kind === "interval" : truthy(field("run_on_start")),
    maxrunning: readMaxrunning(field("maxrunning"), ignoring),
    jidInclude: value.get("jid_include") === undefined || truthy(field("jid_include")),
    dryRun: truthy(field("dry_run")),
    returnJob: field("return_job") === "nocache"
      ? "nocache"
      : value.get("return_job") === undefined || truthy(field("return_job")),
    returners: textsOf(field("returner")),
    metadata: isMap(field("metadata")) ? field("metadata") as ValueMap : undefined,
    skips: readMoments(field("skip_explicit"), zone),
    explicit: readMoments(field("run_explicit"), zone),
    missed: readMissed(field("missed"), ignoring),
    entry: value,
  };
}

function readZone(value: Value, ignoring: string): TimeZone {
  if (value === null) return LOCAL_ZONE;
  const zone = typeof value === "string" ? findZone(value) : undefined;
  if (zone === undefined) throw new ScheduleEntryError(`There is no time zone ${str(value)}. ${ignoring}`);
  return zone;
}

function readTiming(
  entry: ValueMap,
  { zone, setting, ignoring }: { readonly zone: TimeZone; readonly setting: EntrySetting; readonly ignoring: string },
): JobTiming {
  const field = (key: string): Value => entry.get(key) ?? null;
  const kinds = ["when", "cron", "once"].filter((key) => entry.has(key));
  if (kinds.length > 1) {
    throw new ScheduleEntryError(`Unable to use "${kinds.join('", "')}" options together. ${ignoring}`);
  }
  // As in Salt, an interval counts more than another time beside it.
  if (Object.keys(UNITS).some((unit) => entry.has(unit))) return intervalTiming(readInterval(entry, ignoring));
  switch (kinds[0]) {
    case "when":
      return whenTiming(readWhens(field("when"), setting, ignoring), zone);
    case "once":
      return onceTiming(readOnce(field("once"), entry.get("once_fmt") ?? TIME_FORMAT, { zone, ignoring }));
    case "cron": {
      const cron = typeof field("cron") === "string" ? readCron(str(field("cron")), zone.name) : undefined;
      if (cron === undefined) throw new ScheduleEntryError(`Invalid cron string. ${ignoring}`);
      return cronTiming(cron);
    }
    default:
      throw new ScheduleEntryError(
        `It has no time: one of seconds, minutes, hours, days, when, once and cron is needed. ${ignoring}`,
      );
  }
}

function readInterval(entry: ValueMap, ignoring: string): number {
  let seconds = 0;
  for (const [unit, length] of Object.entries(UNITS)) {
    if (!entry.has(unit)) continue;
    const value = entry.get(unit) ?? null;
    const number = typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : toNumber(value);
    if (number === undefined || !Number.isFinite(number)) {
      throw new ScheduleEntryError(`Invalid ${unit}: ${str(value)} is no number. ${ignoring}`);
    }
    seconds += Math.trunc(number) * length;
  }
  if (seconds < 1 || seconds > LONGEST_S) {
    throw new ScheduleEntryError(`Invalid interval: ${seconds} seconds; the least is 1. ${ignoring}`);
  }
  return seconds * 1000;
}

function readWhens(value: Value, setting: EntrySetting, ignoring: string): DateText[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0) throw new ScheduleEntryError(`It has no time: "when" is empty. ${ignoring}`);
  return list.map((item) => {
    const meant = setting.whens(item) ?? item;
    const date = typeof meant === "string" ? readDateText(meant) : undefined;
    if (date === undefined) throw new ScheduleEntryError(`Invalid date string ${str(item)}. ${ignoring}`);
    return date;
  });
}

function readOnce(
  value: Value,
  format: Value,
  { zone, ignoring }: { readonly zone: TimeZone; readonly ignoring: string },
): number {
  const moment = readTimeText(value, format, zone);
  if (moment !== undefined) return moment;
  throw new ScheduleEntryError(`Date string could not be parsed: ${str(value)}, ${str(format)}. ${ignoring}`);
}

function readLimit(value: Value, key: string, ignoring: string): DateText | undefined {
  if (value === null) return undefined;
  const date = typeof value === "string" ? readDateText(value) : undefined;
  if (date === undefined) throw new ScheduleEntryError(`Invalid date string ${str(value)} for ${key}. ${ignoring}`);
  return date;
}

function readArgs(value: Value, ignoring: string): Value[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new ScheduleEntryError(`args is not a list. ${ignoring}`);
  return value;
}

function readKwargs(value: Value, ignoring: string): ValueMap {
  if (value === null) return new Map();
  if (!isMap(value)) throw new ScheduleEntryError(`kwargs is not a dict. ${ignoring}`);
  return value;
}

function readMaxrunning(value: Value, ignoring: string): number {
  if (value === null) return 1;
  const number = toNumber(value);
  if (number === undefined || number < 1) {
    throw new ScheduleEntryError(`Invalid maxrunning: ${str(value)}. ${ignoring}`);
  }
  return number;
}

/** Moments of `{time, time_fmt}`; others are left out. */
function readMoments(value: Value, zone: TimeZone): number[] {
  const list = Array.isArray(value) ? value : [];
  return list.map((item) =>
    isMap(item) ? readTimeText(item.get("time") ?? null, item.get("time_fmt") ?? TIME_FORMAT, zone) : undefined
  ).filter((moment) => moment !== undefined);
}

function readMissed(value: Value, ignoring: string): MissedPolicy | undefined {
  if (value === null) return undefined;
  if (value === "run" || value === "once" || value === "skip") return value;
  throw new ScheduleEntryError(`Invalid missed: ${str(value)} is none of run, once and skip. ${ignoring}`);
}

function textsOf(value: Value): string[] {
  const list = Array.isArray(value) ? value : value === null || value === "" ? [] : [value];
  return [...new Set(list.map(str))];
}

/** The text of a broken entry, for a log and for `_error`. */
export function entryError(error: unknown): string {
  if (error instanceof ScheduleEntryError) return error.message;
  throw error instanceof Error ? error : new Error(messageOf(error));
}
