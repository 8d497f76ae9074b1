/**
 * State module `at`: commands that are run once, later.
 * Source: Salt 3008.3 `salt/states/at.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty, mapOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["at.at"], otherwise: "at module could not be loaded" }],
};

/** The list `jobs` of what a function of `at` answers. */
function jobsOf(answer: Value): Value[] {
  return listOrEmpty(isMap(answer) ? answer.get("jobs") : undefined);
}

/** A job to be made. */
interface Job {
  readonly name: string;
  readonly timespec: string;
  readonly tag: string | null;
  readonly user: string | null;
  readonly job: string | null;
  readonly unique_tag: boolean;
}

async function makeJob(wanted: Job, context: StateContext): Promise<StateResult> {
  const { name, timespec, tag, user, unique_tag } = wanted;
  const job = wanted.job || name;
  if (context.test) return { ...startResult(name, null), comment: `job ${job} added and will run on ${timespec}` };
  if (unique_tag) {
    if (!tag) return failState(name, "no tag provided and unique_tag is set to True");
    if (jobsOf(await context.call("at.jobcheck", [], map({ tag }))).length > 0) {
      return { ...startResult(name), comment: `atleast one job with tag ${tag} exists.` };
    }
  }
  if (user && !truthy(await context.call("user.info", [user]))) return failState(name, `user ${user} does not exists`);
  // None is a tag, too: Salt writes it into the job as that text.
  const options: ValueMap = new Map<Value, Value>([["tag", tag]]);
  if (user) options.set("runas", user);
  const answer = await context.call("at.at", [timespec, job], options);
  const error = isMap(answer) ? answer.get("error") : undefined;
  const [made] = jobsOf(answer);
  const changes = mapOrEmpty(made);
  if (error !== undefined) return failState(name, str(error), changes);
  const whom = user ? ` as ${user}` : "";
  return { ...startResult(name), comment: `job ${job} added and will run${whom} on ${timespec}`, changes };
}

const JOB = {
  name: p.str(),
  timespec: p.str(),
  tag: p.str(null),
  user: p.str(null),
  job: p.str(null),
  unique_tag: p.bool(false),
};

const JOB_DOC =
  "\n\nname\n    The command, unless `job` says it.\n\ntimespec\n    When, in words of at.\n\ntag\n    A text to find the job " +
  "again.\n\nuser\n    Who runs it. Default: root.\n\njob\n    The command.\n\nunique_tag\n    Whether nothing is done where a job with " +
  "this tag waits.";

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Schedule a command to run once.${JOB_DOC}`,
  params: JOB,
  run: (wanted, context) => makeJob(wanted, context),
});

export const watch: ModuleFunction<StateContext> = stateFn({
  doc: `Schedule a command to run once if a watched state has changes.${JOB_DOC}`,
  params: JOB,
  run: ({ name }) => startResult(name),
});

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: "Makes the job of at.watch when a state that it watches has changes.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  run({ name }, context, { kwargs }) {
    if (kwargs.get("sfun") !== "watch") return startResult(name, false);
    const textOf = (key: string) => textOrNull(kwargs.get(key));
    return makeJob({
      name,
      timespec: textOf("timespec") ?? "",
      tag: textOf("tag"),
      user: textOf("user"),
      job: textOf("job"),
      unique_tag: truthy(kwargs.get("unique_tag")),
    }, context);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Remove jobs: by id, by these conditions, or, without arguments, all.\n\nname\n    A text, unique in the run.\n\njobid\n    " +
    "The number of the job.\n\ntag, runas, hour, minute, day, month, year\n    Conditions for the jobs to remove.",
  params: { name: p.str(), jobid: p.any(null) },
  varKwargs: "kwargs",
  keywords: ["tag", "runas", "hour", "minute", "day", "month", "year", "limit"],
  async run({ name, jobid }, context, { kwargs }) {
    if (kwargs.has("limit")) return failState(name, `limit parameter not supported ${name}`);
    if (context.test) return { ...startResult(name, null), comment: "removed ? job(s)" };
    if (truthy(jobid)) return await removeOne(name, jobid, context);
    const numbers = kwargs.size === 0
      ? ["all"]
      : jobsOf(await context.call("at.jobcheck", [], kwargs)).map((job) => isMap(job) ? str(job.get("job") ?? "") : "");
    const removed = removedBy(await context.call("at.atrm", numbers));
    const changes = removed.length > 0 ? map({ removed }) : new Map();
    return { ...startResult(name), comment: `removed ${removed.length} job(s)`, changes };
  },
});

/** The numbers of the jobs that `at.atrm` says to have removed. */
function removedBy(answer: Value): Value[] {
  const jobs = isMap(answer) ? answer.get("jobs") : undefined;
  return listOrEmpty(isMap(jobs) ? jobs.get("removed") : undefined);
}

async function removeOne(name: string, jobid: Value, context: StateContext): Promise<StateResult> {
  const jobs = jobsOf(await context.call("at.atq", [jobid]));
  const what = `job with id ${str(jobid)}`;
  if (jobs.length === 0) return { ...startResult(name), comment: `${what} not present` };
  if (jobs.length > 1) return failState(name, `more than one job was return for ${what}`);
  const removed = removedBy(await context.call("at.atrm", [jobid]));
  const result = removed.some((one) => equals(one, jobid) || str(one) === str(jobid));
  const comment = result ? `${what} was removed` : `failed to remove ${what}`;
  return { ...startResult(name, result), comment, changes: map({ removed }) };
}
