/**
 * Functions that change the schedule.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { dirName } from "#lib/os/paths.ts";
import { SCHEDULE_KEYWORDS } from "#lib/schedule/call_keywords.ts";
import { SETTING_KEYS } from "#lib/schedule/entry.ts";
import { savedSchedulePath } from "#lib/schedule/saved_schedule.ts";
import { YamlError } from "#lib/errors.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { answerOf, askSchedule, changeOffline, jobs, placeOf, type ScheduleAnswer, scheduleIn } from "./_asking.ts";
import { buildItem, timeConflict } from "./_item.ts";

/** With `offline`, the saved file is written. */
const WRITES = "all";

const isTest = (kwargs: ValueMap, context?: JobContext) => truthy(kwargs.get("test")) || context?.opts.test === true;
const isOffline = (kwargs: ValueMap) => truthy(kwargs.get("offline"));
const persists = (kwargs: ValueMap) => kwargs.get("persist") === undefined || truthy(kwargs.get("persist"));

export const add: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a job to the schedule. Its keywords are the keys of a job; arguments are `job_args` and `job_kwargs`. `persist=False`\n" +
      "keeps it in memory only, `offline=True` writes it for a minion that does not run.",
    "schedule.add job1 function='test.ping' seconds=3600",
    `schedule.add job2 function='cmd.run' job_args="['date >> /tmp/date.log']" seconds=60`,
    "schedule.add job3 function='state.apply' cron='30 4 * * 2' timezone=Europe/Berlin missed=once",
  ),
  permissions: WRITES,
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.add,
  run: async ({ name }, context, { kwargs }) => {
    const answer: ScheduleAnswer = {
      comment: `Failed to add job ${name} to schedule.`,
      result: false,
      changes: new Map(),
    };
    const offline = isOffline(kwargs), current = await jobs(context, { offline });
    if (current.has(name)) return answerOf({ ...answer, comment: `Job ${name} already exists in schedule.` });
    const conflict = timeConflict(kwargs, { prefix: "Error: ", with: '"when" or "cron" options' });
    if (conflict !== undefined) return answerOf({ ...answer, comment: conflict });
    const built = buildItem(name, kwargs, context);
    if ("problem" in built) return answerOf({ comment: built.problem, result: false });
    if (isTest(kwargs)) {
      return answerOf({ ...answer, comment: `Job: ${name} would be added to schedule.`, result: true });
    }
    if (offline) changeOffline(context, (all) => all.set(name, built.entry));
    else {
      const schedule = map({ [name]: built.entry });
      await askSchedule(context, "add", "add", { name, schedule, persist: persists(kwargs) });
    }
    return answerOf({ comment: `Added job: ${name} to schedule.`, result: true, changes: map({ [name]: "added" }) });
  },
});

export const modify: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Replace a job of the schedule; its function stays if none is given.",
    "schedule.modify job1 function='test.ping' seconds=3600",
  ),
  permissions: WRITES,
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.modify,
  run: async ({ name }, context, { kwargs: given }) => {
    const answer: ScheduleAnswer = { comment: "", changes: new Map(), result: true };
    const conflict = timeConflict(given, { prefix: "Error: ", with: '"when" option' });
    if (conflict !== undefined) return answerOf({ ...answer, comment: conflict, result: false });
    const offline = isOffline(given), current = await jobs(context, { offline });
    const old = current.get(name);
    if (!isMap(old)) {
      return answerOf({ ...answer, comment: `Job ${name} does not exist in schedule.`, result: false });
    }
    const kwargs: ValueMap = new Map(given);
    if (!kwargs.has("function")) kwargs.set("function", old.get("function") ?? null);
    const built = buildItem(name, kwargs, context);
    if ("problem" in built) return answerOf({ comment: built.problem, result: false });
    old.delete("_error");
    if (equals(built.entry, old)) return answerOf({ ...answer, comment: `Job ${name} in correct state` });
    const changes = map({ [name]: { old, new: built.entry } });
    if (isTest(kwargs)) {
      return answerOf({ ...answer, comment: `Job: ${name} would be modified in schedule.`, changes });
    }
    if (offline) changeOffline(context, (all) => all.set(name, built.entry));
    else if (await placeOf(context, name) === "pillar") {
      return answerOf({ comment: `Failed to modify job ${name} in schedule.`, changes: new Map(), result: false });
    } else await askSchedule(context, "modify", "delete", { name, schedule: built.entry, persist: persists(kwargs) });
    return answerOf({ ...answer, comment: `Modified job: ${name} in schedule.`, changes });
  },
});

const deleteJob: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a job from the schedule.", "schedule.delete job1"),
  permissions: WRITES,
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.delete,
  run: async ({ name }, context, { kwargs }) => {
    const answer: ScheduleAnswer = {
      comment: `Failed to delete job ${name} from schedule.`,
      result: false,
      changes: new Map(),
    };
    if (isTest(kwargs)) {
      return answerOf({ ...answer, comment: `Job: ${name} would be deleted from schedule.`, result: true });
    }
    if (isOffline(kwargs)) {
      const current = await jobs(context, { offline: true });
      if (!current.has(name)) return answerOf({ ...answer, comment: `Job ${name} does not exist.` });
      changeOffline(context, (all) => all.delete(name));
    } else {
      const where = await placeOf(context, name);
      if (where === undefined) return answerOf({ ...answer, comment: `Job ${name} does not exist.` });
      const persist = where === "opts" && persists(kwargs);
      const left = scheduleIn(await askSchedule(context, "delete", "delete", { name, persist }));
      if (left.has(name)) return answerOf(answer);
    }
    return answerOf({
      comment: `Deleted Job ${name} from schedule.`,
      result: true,
      changes: map({ [name]: "removed" }),
    });
  },
});
export { deleteJob as delete };

export const purge: ModuleFunction<JobContext> = fn({
  doc: describe("Delete all jobs from the schedule.", "schedule.purge"),
  permissions: WRITES,
  params: {},
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.purge,
  run: async (_bound, context, { kwargs }) => {
    const comment: string[] = [], changes: ValueMap = new Map();
    const offline = isOffline(kwargs), current = await jobs(context, { offline });
    const isJob = ([key, entry]: [Value, Value]) =>
      isMap(entry) && !str(key).startsWith("__") && !SETTING_KEYS.includes(str(key));
    const names = [...current].filter(isJob).map(([key]) => str(key));
    for (const name of names) {
      if (isTest(kwargs)) {
        comment.push(`Job: ${name} would be deleted from schedule.`);
        continue;
      }
      const left = offline
        ? new Map()
        : scheduleIn(await askSchedule(context, "delete", "delete", { name, persist: persists(kwargs) }));
      if (left.has(name)) comment.push(`Failed to delete job ${name} from schedule.`);
      else {
        comment.push(`Deleted job: ${name} from schedule.`);
        changes.set(name, "removed");
      }
    }
    if (offline && !isTest(kwargs)) changeOffline(context, (all) => names.forEach((name) => all.delete(name)));
    return map({ comment, changes, result: true });
  },
});

/** Enables or disables one job. */
function switchJob(verb: "enable" | "disable") {
  const past = `${verb}d`, Past = `${past[0].toUpperCase()}${past.slice(1)}`;
  return async (
    { name }: { readonly name: string },
    context: JobContext,
    { kwargs }: { readonly kwargs: ValueMap },
  ): Promise<Value> => {
    const answer: ScheduleAnswer = { comment: [], result: true, changes: new Map() };
    if (isTest(kwargs, context)) return answerOf({ ...answer, comment: `Job: ${name} would be ${past} in schedule.` });
    const where = await placeOf(context, name);
    if (where === undefined) return answerOf({ ...answer, comment: `Job ${name} does not exist.`, result: false });
    const persist = where === "opts" && persists(kwargs);
    const schedule = scheduleIn(await askSchedule(context, `${verb}_job`, `${past}_job`, { name, persist }));
    const entry = schedule.get(name);
    const isOn = isMap(entry) && (entry.get("enabled") === undefined || truthy(entry.get("enabled")));
    if (isOn !== (verb === "enable")) {
      return answerOf({ ...answer, comment: `Failed to ${verb} job ${name} in schedule.`, result: false });
    }
    return answerOf({ ...answer, comment: `${Past} Job ${name} in schedule.`, changes: map({ [name]: past }) });
  };
}

export const enable_job: ModuleFunction<JobContext> = fn({
  doc: describe("Enable a job of the schedule.", "schedule.enable_job job1"),
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.enable_job,
  run: switchJob("enable"),
});

export const disable_job: ModuleFunction<JobContext> = fn({
  doc: describe("Disable a job of the schedule.", "schedule.disable_job job1"),
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.disable_job,
  run: switchJob("disable"),
});

/** Enables or disables the schedule. */
function switchAll(verb: "enable" | "disable") {
  const past = `${verb}d`, Past = `${past[0].toUpperCase()}${past.slice(1)}`;
  return async (
    _bound: unknown,
    context: JobContext,
    { kwargs }: { readonly kwargs: ValueMap },
  ): Promise<Value> => {
    const answer: ScheduleAnswer = { comment: `Schedule would be ${past}.`, changes: new Map(), result: true };
    if (isTest(kwargs)) return answerOf(answer);
    await askSchedule(context, verb, past, { persist: persists(kwargs) });
    return answerOf({ ...answer, comment: `${Past} schedule on minion.`, changes: map({ schedule: past }) });
  };
}

export const enable: ModuleFunction<JobContext> = fn({
  doc: describe("Enable the schedule.", "schedule.enable"),
  params: {},
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.enable,
  run: switchAll("enable"),
});

export const disable: ModuleFunction<JobContext> = fn({
  doc: describe("Disable the schedule: no job runs.", "schedule.disable"),
  params: {},
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.disable,
  run: switchAll("disable"),
});

export const reload: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Ask for the pillar again if it has a schedule, and add the jobs of `minion.d/schedule.conf`.",
    "schedule.reload",
  ),
  permissions: { read: ["{config_dir}"] },
  params: {},
  run: async (_bound, context) => {
    const comment: string[] = [];
    let result = true;
    if (context.pillar.has("schedule")) {
      const isAsked = await context.outside.fire(new Map(), "pillar_refresh");
      comment.push(`${isAsked ? "Reloaded" : "Failed to reload"} schedule from pillar on minion.`);
      result = isAsked;
    }
    const path = `${dirName(savedSchedulePath(context.opts))}/schedule.conf`;
    if (!isFile(path)) return map({ comment, result });
    const read = readFileSchedule(path);
    if (typeof read === "string") return map({ comment: [...comment, read], result: false });
    await askSchedule(context, "reload", "reload", { schedule: read });
    return map({ comment: [...comment, "Reloaded schedule on minion from schedule.conf."], result });
  },
});

/** The schedule of a file, or the text why there is none. */
function readFileSchedule(path: string): ValueMap | string {
  try {
    const value = loadYaml(readTextFileIfExists(path) ?? "", path);
    const schedule = isMap(value) ? value.get("schedule") ?? null : null;
    if (isMap(schedule) && schedule.size > 0) return schedule;
    return "Failed to reload schedule on minion.  Saved file is empty or invalid.";
  } catch (error) {
    if (error instanceof YamlError) return `Unable to read existing schedule file: ${error.message}`;
    throw error;
  }
}
