/**
 * What the functions of `schedule` share: questions to the running minion, its jobs as they are shown, and the saved
 * file for a minion that does not run.
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import { MANAGE_SCHEDULE, scheduleAnswer } from "#lib/protocol/tags.ts";
import { JOB_KEYS, SETTING_KEYS } from "#lib/schedule/entry.ts";
import {
  checkSavable,
  joinSchedules,
  readSavedSchedule,
  type SavedSchedule,
  savedSchedulePath,
  writeSavedSchedule,
} from "#lib/schedule/saved_schedule.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** An answer of Salt's functions. */
export interface ScheduleAnswer {
  comment: Value;
  result: boolean;
  changes?: ValueMap;
}

/** Keys that Salt's list knows, and ours. `_error` says why a job cannot run. */
const SHOWN_KEYS: ReadonlySet<string> = new Set([
  ...JOB_KEYS.filter((key) => !["func", "fun", "run", "run_explicit", "skip_explicit"].includes(key)),
  "_error",
]);

/** Asks the minion. `what`: the end of the answer's tag. */
export async function askSchedule(
  context: JobContext,
  func: string,
  what: string,
  fields: Readonly<Record<string, Value>> = {},
): Promise<ValueMap> {
  const data = map({ func, ...fields });
  return await context.outside.ask({ tag: MANAGE_SCHEDULE, data, answerTag: scheduleAnswer(what) });
}

/** The schedule in an answer. */
export function scheduleIn(answer: ValueMap): ValueMap {
  const schedule = answer.get("schedule");
  return isMap(schedule) ? schedule : new Map();
}

/** What {@linkcode jobs} lists. */
export interface Listing {
  readonly showAll?: boolean;
  readonly showDisabled?: boolean;
  readonly where?: "opts" | "pillar" | null;
  /** Whether the files are read, and no minion asked. */
  readonly offline?: boolean;
}

/** The jobs and settings as Salt lists them. */
export async function jobs(
  context: JobContext,
  { showAll = true, showDisabled = true, where = null, offline = false }: Listing = {},
): Promise<ValueMap> {
  const schedule = offline
    ? offlineSchedule(context)
    : scheduleIn(await askSchedule(context, "list", "list", { where }));
  const listed: ValueMap = new Map();
  for (const [name, entry] of schedule) {
    if (!isMap(entry) || (SETTING_KEYS.includes(str(name)) && !entry.has("function"))) {
      listed.set(name, isMap(entry) ? new Map(entry) : entry);
      continue;
    }
    if (str(name).startsWith("__") && !showAll) continue;
    const shown = shownEntry(entry);
    if (showDisabled || truthy(shown.get("enabled"))) listed.set(name, shown);
  }
  return listed;
}

function shownEntry(entry: ValueMap): ValueMap {
  const shown: ValueMap = new Map();
  for (const [key, value] of entry) {
    if (!SHOWN_KEYS.has(str(key)) || value === null) continue;
    shown.set(key, value === "true" ? true : value === "false" ? false : value);
  }
  if (!shown.has("enabled")) shown.set("enabled", true);
  return shown;
}

/** What the saved file says. */
export function savedOf({ opts, log }: JobContext): SavedSchedule {
  return readSavedSchedule(savedSchedulePath(opts), (text) => log("error", text));
}

/** The jobs and settings of the configuration. */
export function configuredOf({ opts }: JobContext): ValueMap {
  return isMap(opts.schedule) ? opts.schedule : new Map();
}

/** The jobs and settings that the minion will have when it starts. */
function offlineSchedule(context: JobContext): ValueMap {
  // The minion itself names the jobs that configuration and file have differently.
  return joinSchedules(configuredOf(context), savedOf(context), () => {});
}

/** Changes what the minion will have when it starts, and writes the saved file. */
export function changeOffline(context: JobContext, change: (schedule: ValueMap) => void): void {
  const path = savedSchedulePath(context.opts), saved = savedOf(context);
  checkSavable(path, saved);
  const schedule = joinSchedules(configuredOf(context), saved, () => {});
  change(schedule);
  writeSavedSchedule(path, schedule, configuredOf(context));
}

/** The place of a job: `opts`, `pillar`, or none. */
export async function placeOf(context: JobContext, name: string): Promise<"opts" | "pillar" | undefined> {
  for (const where of ["opts", "pillar"] as const) {
    if ((await jobs(context, { where })).has(name)) return where;
  }
  return undefined;
}

/** An answer as a value. */
export function answerOf({ comment, result, changes }: ScheduleAnswer): ValueMap {
  return map({ comment, result, ...changes !== undefined && { changes } });
}
