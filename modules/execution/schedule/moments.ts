/**
 * Functions that act on single runs of a job.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { SCHEDULE_KEYWORDS } from "#lib/schedule/call_keywords.ts";
import { TIME_FORMAT } from "#lib/schedule/entry.ts";
import { readTimeText } from "#lib/schedule/moments.ts";
import { LOCAL_ZONE } from "#lib/schedule/zone.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { answerOf, askSchedule, jobs, placeOf, scheduleIn } from "./_asking.ts";

export const run_job: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a job of the schedule now; a disabled one with `force=True`.",
    "schedule.run_job job1",
    "schedule.run_job job1 force=True",
  ),
  params: { name: p.str(), force: p.bool(false) },
  run: async ({ name, force }, context) => {
    const job = (await jobs(context)).get(name);
    if (!isMap(job)) return answerOf({ comment: `Job ${name} does not exist.`, result: false });
    const problem = job.get("_error");
    if (problem !== undefined) return answerOf({ comment: problem, result: false });
    if (!truthy(job.get("enabled")) && !force) return answerOf({ comment: `Job ${name} is disabled.`, result: true });
    const answer = await askSchedule(context, "run_job", "run_job", { name });
    return truthy(answer.get("started"))
      ? answerOf({ comment: `Scheduling Job ${name} on minion.`, result: true })
      : answerOf({ comment: `Failed to run job ${name} on minion.`, result: false });
  },
});

export const postpone_job: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a job at `new_time` instead of `current_time`. Both have the format `time_fmt`.",
    "schedule.postpone_job job 2026-12-01T10:00:00 2026-12-02T10:00:00",
    "schedule.postpone_job job 01.12.2026 02.12.2026 time_fmt='%d.%m.%Y'",
  ),
  params: { name: p.str(), current_time: p.str(), new_time: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.postpone_job,
  run: ({ name, current_time, new_time }, context, { kwargs }) => {
    const times = { time: current_time, new_time };
    const words = { would: "postponed", done: `Postponed Job ${name} in schedule.`, verb: "postpone" };
    return onMoments({ name, times, kwargs, func: "postpone_job", words }, context);
  },
});

export const skip_job: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Skip the run of a job at `current_time`, which has the format `time_fmt`. Other runs stay.",
    "schedule.skip_job job 2026-12-01T10:00:00",
  ),
  params: { name: p.str(), current_time: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.skip_job,
  run: ({ name, current_time }, context, { kwargs }) => {
    const words = { would: "skipped", done: `Added Skip Job ${name} in schedule.`, verb: "skip" };
    return onMoments({ name, times: { time: current_time }, kwargs, func: "skip_job", words }, context);
  },
});

interface MomentChange {
  readonly name: string;
  readonly times: Readonly<Record<string, string>>;
  readonly kwargs: ValueMap;
  readonly func: string;
  readonly words: { readonly would: string; readonly done: string; readonly verb: string };
}

async function onMoments({ name, times, kwargs, func, words }: MomentChange, context: JobContext): Promise<Value> {
  const refused = (comment: string) => answerOf({ comment, result: false });
  if (name === "") return refused("Job name is required.");
  const time_fmt = truthy(kwargs.get("time_fmt")) ? str(kwargs.get("time_fmt") ?? null) : TIME_FORMAT;
  for (const time of Object.values(times)) {
    if (readTimeText(time, time_fmt, LOCAL_ZONE) === undefined) return refused("Date string could not be parsed.");
  }
  if (context.opts.test || truthy(kwargs.get("test"))) {
    return answerOf({ comment: `Job: ${name} would be ${words.would} in schedule.`, result: true });
  }
  const where = await placeOf(context, name);
  if (where === undefined) return refused(`Job ${name} does not exist.`);
  const schedule = scheduleIn(await askSchedule(context, func, func, { name, ...times, time_fmt }));
  const job = schedule.get(name);
  const isDone = where === "opts" && isMap(job) && (job.get("enabled") === undefined || truthy(job.get("enabled")));
  return isDone
    ? answerOf({ comment: words.done, result: true })
    : refused(`Failed to ${words.verb} job ${name} in schedule.`);
}
