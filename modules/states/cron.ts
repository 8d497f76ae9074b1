/**
 * State module `cron`: the jobs and variables of users' crontabs.
 * Source: Salt 3008.3 `salt/states/cron.py`.
 * @module
 */

import { type CronEntryState, findJob, findVariable } from "./_cron_check.ts";
import { runCronFile } from "./_cron_file.ts";
import { TIME_FIELDS } from "#lib/host/accounts/crontab.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { map, str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["cron.list_tab"], otherwise: "cron module could not be loaded" }],
};

const USER = `user : root
    The user of the crontab.`;
const IDENTIFIER = `identifier
    A text that identifies the job even if its command changes. Default: the command.`;

/** The identifier of a job: what is given, by default its command; None: none. */
function identifierOf(given: Value, name: string): string | null {
  return given === false ? name : textOrNull(given);
}

/** What test mode says of an entry that is to be there. */
function planEntry(name: string, what: string, state: CronEntryState): StateResult {
  if (state === "present") return { ...startResult(name), comment: `${what} already present` };
  const comment = `${what} is set to be ${state === "absent" ? "added" : "updated"}`;
  return { ...startResult(name, null), comment };
}

/** What test mode says of an entry that is to go. */
function plannedRemoval(name: string, what: string, state: CronEntryState): StateResult {
  return state === "absent"
    ? { ...startResult(name), comment: `${what} is absent` }
    : { ...startResult(name, null), comment: `${what} is set to be removed` };
}

/** An entry, and whose it is. */
interface Entry {
  readonly name: string;
  readonly user: string;
  /** `Cron` or `Cron env`. */
  readonly kind: string;
}

/** The result of an addition, by what the module cron answers. */
function addedResult(answer: Value, { name, user, kind }: Entry): StateResult {
  if (answer === "present") return { ...startResult(name), comment: `${kind} ${name} already present` };
  const changes = map({ [user]: name });
  if (answer === "new") return { ...startResult(name), comment: `${kind} ${name} added to ${user}'s crontab`, changes };
  if (answer === "updated") return { ...startResult(name), comment: `${kind} ${name} updated`, changes };
  return failState(name, `${kind} ${name} for user ${user} failed to commit with error \n${str(answer)}`);
}

/** The result of a removal. */
function removedResult(answer: Value, { name, user, kind }: Entry): StateResult {
  if (answer === "absent") return { ...startResult(name), comment: `${kind} ${name} already absent` };
  if (answer === "removed") {
    const comment = `${kind} ${name} removed from ${user}'s crontab`;
    return { ...startResult(name), comment, changes: map({ [user]: name }) };
  }
  return failState(name, `${kind} ${name} for user ${user} failed to commit with error ${str(answer)}`);
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A user's crontab has a job.

name
    The command.

${USER}

minute, hour, daymonth, month, dayweek : *
    The time, as in crontab(5); \`random\` is chosen once, when the job is added.

comment
    A comment above the job.

commented : False
    Whether the job is commented out.

${IDENTIFIER}

special
    A special time instead of the fields: @reboot, @yearly, @monthly, @weekly, @daily, @hourly.`,
  params: {
    name: p.str(),
    user: p.str("root"),
    minute: p.str("*"),
    hour: p.str("*"),
    daymonth: p.str("*"),
    month: p.str("*"),
    dayweek: p.str("*"),
    comment: p.str(null),
    commented: p.bool(false),
    identifier: p.any(false),
    special: p.str(null),
  },
  async run({ name: given, user, comment, commented, special, ...bound }, context) {
    const name = given.trim();
    const identifier = identifierOf(bound.identifier, name);
    if (context.test) {
      const time = new Map(TIME_FIELDS.map((field) => [field, bound[field].toLowerCase()]));
      const job = { cmd: name, identifier, comment, commented, time, special };
      return planEntry(name, `Cron ${name}`, await findJob(user, job, context));
    }
    const job = { user, cmd: name, comment, commented, identifier };
    const time = Object.fromEntries(TIME_FIELDS.map((field) => [field, bound[field]]));
    const answer = special === null
      ? await context.call("cron.set_job", [], map({ ...job, ...time }))
      : await context.call("cron.set_special", [], map({ ...job, special }));
    return addedResult(answer, { name, user, kind: "Cron" });
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A user's crontab does not have a job.

name
    The command.

${USER}

${IDENTIFIER}

special
    The special time of the job, if it has one.

Other arguments of cron.present are accepted and ignored.`,
  params: { name: p.str(), user: p.str("root"), identifier: p.any(false), special: p.str(null) },
  varKwargs: "kwargs",
  async run({ name: given, user, special, ...bound }, context) {
    const name = given.trim();
    const identifier = identifierOf(bound.identifier, name);
    if (context.test) {
      return plannedRemoval(name, `Cron ${name}`, await findJob(user, { cmd: name, identifier }, context));
    }
    const answer = special === null
      ? await context.call("cron.rm_job", [user, name], map({ identifier }))
      : await context.call("cron.rm_special", [user, name], map({ special, identifier }));
    return removedResult(answer, { name, user, kind: "Cron" });
  },
});

export const file: ModuleFunction<StateContext> = stateFn({
  doc: `A user's crontab has exactly the contents of a file.

name
    The file: a URL (salt, http, https, ftp, file) or a path, or a list, of which the first that exists is used.

source_hash
    The digest of a remote file, or a file with digests.

source_hash_name
    The name of the file in the file with digests.

${USER}

template
    The renderer that the file is passed through: jinja.

context
    A map of variables for the template.

replace : True
    Whether an existing crontab is replaced.

defaults
    A map of variables for names that the context does not have.

backup
    Where the old crontab is kept: minion.

More arguments are those of file.check_managed and file.get_managed.`,
  params: {
    name: p.any(),
    source_hash: p.any(""),
    source_hash_name: p.str(null),
    user: p.str("root"),
    template: p.str(null),
    context: p.any(null),
    replace: p.bool(true),
    defaults: p.any(null),
    backup: p.any(""),
  },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => runCronFile(bound, kwargs, context),
});

export const env_present: ModuleFunction<StateContext> = stateFn({
  doc: `A user's crontab has a variable.

name
    The variable.

value
    Its value. Default: an empty string.

${USER}`,
  params: { name: p.str(), value: p.str(null), user: p.str("root") },
  async run({ name, value, user }, context) {
    if (context.test) return planEntry(name, `Cron env ${name}`, await findVariable(user, name, value, context));
    const answer = await context.call("cron.set_env", [user, name], map({ value }));
    return addedResult(answer, { name, user, kind: "Cron env" });
  },
});

export const env_absent: ModuleFunction<StateContext> = stateFn({
  doc: `A user's crontab does not have a variable.

name
    The variable.

${USER}`,
  params: { name: p.str(), user: p.str("root") },
  async run({ name: given, user }, context) {
    const name = given.trim();
    if (context.test) return plannedRemoval(name, `Cron env ${name}`, await findVariable(user, name, null, context));
    return removedResult(await context.call("cron.rm_env", [user, name]), { name, user, kind: "Cron env" });
  },
});
