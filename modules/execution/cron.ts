/**
 * Execution module `cron`: the jobs in users' crontabs.
 * Source: the functions of Salt 3008.3 `salt/modules/cron.py`.
 * @module
 */

import { changeCrontab, cronField, installCrontab, readCrontab } from "#lib/host/accounts/cron.ts";
import {
  type CronTime,
  parseCrontab,
  removeJob,
  removeSpecial,
  removeVariable,
  setJob,
  setVariable,
  TIME_FIELDS,
} from "#lib/host/accounts/crontab.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["crontab"], otherwise: "Cannot load cron module: crontab command not found" }],
};

/** A number from `low` to `high`. */
function random(low: number, high: number): number {
  return low + Math.floor(crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32 * (high - low + 1));
}

export const write_cron_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install a file as a user's crontab. Return whether this succeeded.",
    "cron.write_cron_file root /tmp/new_cron",
  ),
  permissions: "all",
  params: { user: p.str(), path: p.str() },
  run: async ({ user, path }, context) => (await installCrontab(user, path, context)).retcode === 0,
});

export const write_cron_file_verbose: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install a file as a user's crontab. Return the output of crontab.",
    "cron.write_cron_file_verbose root /tmp/new_cron",
  ),
  permissions: "all",
  params: { user: p.str(), path: p.str() },
  run: async ({ user, path }, context) => ({ ...await installCrontab(user, path, context) }),
});

export const raw_cron: ModuleFunction<JobContext> = fn({
  doc: describe("Return a user's crontab as it is.", "cron.raw_cron root"),
  permissions: "all",
  params: { user: p.str() },
  run: ({ user }, context) => readCrontab(user, context),
});

const LIST = {
  permissions: "all",
  params: { user: p.str() },
  run: async ({ user }: { user: string }, context: JobContext) => parseCrontab(await readCrontab(user, context)),
} as const;

export const list_tab: ModuleFunction<JobContext> = fn({
  ...LIST,
  doc: describe("Return the jobs and variables of a user's crontab, and the lines above Salt's.", "cron.list_tab root"),
});

export const ls: ModuleFunction<JobContext> = fn({
  ...LIST,
  doc: describe("The same as cron.list_tab.", "cron.ls root"),
});

export const get_entry: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a job, found by its identifier or by its command; False if there is none.",
    "cron.get_entry root identifier=task1",
  ),
  permissions: "all",
  params: { user: p.str(), identifier: p.str(null), cmd: p.str(null) },
  async run({ user, identifier, cmd }, context) {
    if (identifier && cmd) context.log("warning", "Both identifier and cmd are specified. Only using identifier.");
    const { crons, special } = parseCrontab(await readCrontab(user, context));
    const entry = [...crons, ...special].find((job) => identifier ? job.identifier === identifier : job.cmd === cmd);
    return entry ?? false;
  },
});

const TIME = { minute: p.str(), hour: p.str(), daymonth: p.str(), month: p.str(), dayweek: p.str() };
const MORE = { commented: p.bool(false), comment: p.str(null), identifier: p.str(null) };

/** The fields of a job, each checked to be one line; a comment may have several. */
function checkJob<T extends { readonly cmd: string; readonly identifier: string | null }>(job: T): T {
  cronField(job.cmd, "command");
  if (job.identifier !== null) cronField(job.identifier, "identifier");
  return job;
}

export const set_job: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a job to a user's crontab, or change the job with that identifier (without one: with that command). A field of the\n" +
      "time may be `random`, or a range such as 5:10 from which a value is chosen. commented=True disables the job. Return\n" +
      "new, updated or present, or the error of crontab.",
    "cron.set_job root '*' '*' '*' '*' 1 /usr/local/weekly",
  ),
  permissions: "all",
  params: { user: p.str(), ...TIME, cmd: p.str(), ...MORE },
  run({ user, cmd, commented, comment, identifier, ...given }, context) {
    const field = (name: typeof TIME_FIELDS[number]) => cronField(given[name].toLowerCase(), name);
    const time: CronTime = {
      minute: field("minute"),
      hour: field("hour"),
      daymonth: field("daymonth"),
      month: field("month"),
      dayweek: field("dayweek"),
    };
    const job = checkJob({ cmd, commented, comment, identifier, time });
    return changeCrontab(user, (table) => setJob(table, job, random), context);
  },
});

export const set_special: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a job for a special time (@reboot, @daily, …) to a user's crontab, or change it. Return new, updated or present.",
    "cron.set_special root @hourly 'echo foobar'",
  ),
  permissions: "all",
  params: { user: p.str(), special: p.str(), cmd: p.str(), ...MORE },
  run({ user, special, cmd, commented, comment, identifier }, context) {
    const job = checkJob({ cmd, commented, comment, identifier, spec: cronField(special, "occasion") });
    return changeCrontab(user, (table) => setJob(table, job, random), context);
  },
});

export const rm_special: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a job of a special time. Return removed or absent.",
    "cron.rm_special root cmd='/usr/bin/foo'",
  ),
  permissions: "all",
  params: { user: p.str(), cmd: p.str(), special: p.str(null), identifier: p.str(null) },
  run: ({ user, cmd, special, identifier }, context) =>
    changeCrontab(user, (table) => removeSpecial(table, { cmd, identifier, spec: special }), context),
});

const REMOVE = {
  permissions: "all",
  params: {
    user: p.str(),
    cmd: p.str(),
    minute: p.str(null),
    hour: p.str(null),
    daymonth: p.str(null),
    month: p.str(null),
    dayweek: p.str(null),
    identifier: p.str(null),
  },
  run(
    { user, cmd, identifier, ...given }:
      & { user: string; cmd: string; identifier: string | null }
      & Record<
        typeof TIME_FIELDS[number],
        string | null
      >,
    context: JobContext,
  ) {
    const time = Object.fromEntries(TIME_FIELDS.flatMap((name) => given[name] === null ? [] : [[name, given[name]]]));
    return changeCrontab(user, (table) => removeJob(table, { cmd, identifier, time }), context);
  },
} as const;

export const rm_job: ModuleFunction<JobContext> = fn({
  ...REMOVE,
  doc: describe(
    "Remove a job: the one with that identifier or command, and with those times if given. Return removed or\n" +
      "absent.",
    "cron.rm_job root /usr/local/weekly",
    "cron.rm_job root /usr/bin/foo dayweek=1",
  ),
});

export const rm: ModuleFunction<JobContext> = fn({
  ...REMOVE,
  doc: describe("The same as cron.rm_job.", "cron.rm root /usr/local/weekly"),
});

export const set_env: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a variable in a user's crontab. Return new, updated or present.",
    "cron.set_env root MAILTO user@example.com",
  ),
  permissions: "all",
  params: { user: p.str(), name: p.str(), value: p.str(null) },
  run: ({ user, name, value }, context) =>
    changeCrontab(
      user,
      (table) => setVariable(table, cronField(name, "name"), value === null ? null : cronField(value, "value")),
      context,
    ),
});

export const rm_env: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a variable of a user's crontab. Return removed or absent.", "cron.rm_env root MAILTO"),
  permissions: "all",
  params: { user: p.str(), name: p.str() },
  run: ({ user, name }, context) => changeCrontab(user, (table) => removeVariable(table, name), context),
});
