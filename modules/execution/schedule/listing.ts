/**
 * Functions that show the schedule.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { MANAGE_SCHEDULE, SCHEDULE_SAVED } from "#lib/protocol/tags.ts";
import { SCHEDULE_KEYWORDS } from "#lib/schedule/call_keywords.ts";
import { isMap, map, truthy, type Value } from "#lib/values/value.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { answerOf, askSchedule, configuredOf, jobs, placeOf, savedOf } from "./_asking.ts";
import { buildItem } from "./_item.ts";

/** The saved file is in the directory of the configuration. */
const READS = { read: ["{config_dir}"] } as const;

export const list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "List the jobs of the schedule, as YAML or, with `return_yaml=False`, as a map. `where` is `opts` or `pillar`;\n" +
      "`offline` reads the files of a minion that does not run. A job that cannot run has its reason as `_error`.",
    "schedule.list",
    "schedule.list show_all=True",
    "schedule.list show_disabled=False",
  ),
  permissions: READS,
  params: {
    show_all: p.bool(false),
    show_disabled: p.bool(true),
    where: p.str(null),
    return_yaml: p.bool(true),
    offline: p.bool(false),
  },
  run: async ({ show_all, show_disabled, where, return_yaml, offline }, context) => {
    const place = where === "opts" || where === "pillar" ? where : null;
    const listed = await jobs(context, { showAll: show_all, showDisabled: show_disabled, where: place, offline });
    if (!return_yaml) return listed;
    const saved = savedOf(context).schedule, configured = configuredOf(context);
    for (const [name, entry] of listed) {
      if (isMap(entry)) entry.set("saved", saved.has(name) || configured.has(name));
    }
    return dumpYaml(map({ schedule: listed }));
  },
});

export const is_enabled: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Whether the schedule is enabled; with `name`, that job, or an empty map if there is none.",
    "schedule.is_enabled name=job_name",
    "schedule.is_enabled",
  ),
  params: { name: p.str(null) },
  run: async ({ name }, context) => {
    const listed = await jobs(context, { showAll: false });
    if (name === null || name === "") return listed.get("enabled") ?? true;
    return listed.get(name) ?? new Map();
  },
});

export const build_schedule_item: ModuleFunction<JobContext> = fn({
  doc: describe(
    "The entry that `schedule.add` would store.",
    "schedule.build_schedule_item job1 function='test.ping' seconds=3600",
  ),
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.build_schedule_item,
  run: ({ name }, context, { kwargs }) => {
    const built = buildItem(name, kwargs, context);
    return "entry" in built ? built.entry : answerOf({ comment: built.problem, result: false });
  },
});

export const show_next_fire_time: ModuleFunction<JobContext> = fn({
  doc: describe("The next time of a job, whether it may run then or not.", "schedule.show_next_fire_time job_name"),
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.show_next_fire_time,
  run: async ({ name }, context) => {
    if (name === "") return answerOf({ comment: "Job name is required.", result: false });
    if (await placeOf(context, name) === undefined) {
      return answerOf({ comment: `Job ${name} does not exist.`, result: false });
    }
    const answer = await askSchedule(context, "get_next_fire_time", "next_fire_time", { name });
    return map({ result: true, next_fire_time: answer.get("next_fire_time") ?? null });
  },
});

export const job_status: ModuleFunction<JobContext> = fn({
  doc: describe(
    "A job as the minion has it in memory: its next time, why it did not run, and why it cannot (`_error`).",
    "schedule.job_status job_name",
  ),
  params: { name: p.str(), time_fmt: p.str("%Y-%m-%dT%H:%M:%S") },
  run: async ({ name }, context) => {
    const answer = await askSchedule(context, "job_status", "job_status", { name, fire_event: true });
    return answer.get("data") ?? new Map();
  },
});

export const preview: ModuleFunction<JobContext> = fn({
  doc: describe(
    "The next moments of all jobs, or of one: when, in which time zone, whether the job runs, and why not. Not in Salt.",
    "schedule.preview",
    "schedule.preview job_name 20",
  ),
  params: { name: p.str(null), count: p.int(10) },
  run: async ({ name, count }, context): Promise<Value> => {
    const answer = await askSchedule(context, "preview", "preview", { name, count });
    return answer.get("preview") ?? [];
  },
});

export const save: ModuleFunction<JobContext> = fn({
  doc: describe("Write the jobs that are not pillar's to `_schedule.conf`.", "schedule.save"),
  params: {},
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.save,
  run: async (_bound, context, { kwargs }) => {
    if (truthy(kwargs.get("test"))) return answerOf({ comment: "Schedule would be saved.", result: true });
    const data = map({ func: "save_schedule" });
    await context.outside.ask({ tag: MANAGE_SCHEDULE, data, answerTag: SCHEDULE_SAVED });
    return answerOf({ comment: "Schedule (non-pillar items) saved.", result: true });
  },
});
