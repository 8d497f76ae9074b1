/**
 * State module `schedule`: the jobs of a minion's schedule.
 * Source: Salt 3008.3 `salt/states/schedule.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { ADD_KEYWORDS, SCHEDULE_KEYWORDS } from "#lib/schedule/call_keywords.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const OFFLINE = (kwargs: ValueMap) => kwargs.get("offline") ?? false;

/** The jobs of the minion, or of its saved file. */
async function listed(context: StateContext, kwargs: ValueMap): Promise<ValueMap> {
  const how = map({ show_all: true, return_yaml: false, offline: truthy(OFFLINE(kwargs)) });
  const schedule = await context.call("schedule.list", [], how);
  return isMap(schedule) ? schedule : new Map();
}

/** Calls a function of the module, and returns its answer. */
async function change(
  context: StateContext,
  fun: string,
  { name, kwargs }: { readonly name: string; readonly kwargs: ValueMap },
): Promise<ValueMap> {
  const given = context.test ? new Map(kwargs).set("test", true) : kwargs;
  const answer = await context.call(`schedule.${fun}`, [name], given);
  return isMap(answer) ? answer : map({ result: false, comment: str(answer), changes: {} });
}

function resultOf(name: string, result: boolean, comment: Value, changes: Value = new Map()): StateResult {
  return { name, result, comment: str(comment), changes: isMap(changes) ? changes : new Map() };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Ensure that a job is in the schedule. In test mode the result stays true, as in Salt; the changes say what would
be done.

name
    The name of the job.

seconds, minutes, hours, days, when, cron, once, once_fmt
    When it runs.

function, job_args, job_kwargs
    What it runs.

splay, range, skip_during_range, run_after_skip_range, until, after, maxrunning, run_on_start, enabled
    Limits of its runs.

timezone, missed
    The time zone of its times, and what is done with missed ones (run, once, skip). Not in Salt.

return_job, returner, return_config, return_kwargs, metadata, jid_include
    What becomes of its return.

persist : True
    Whether the job is there after a restart.

offline : False
    Whether it is written for a minion that does not run.`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: ADD_KEYWORDS,
  run: async ({ name }, context, { kwargs }) => {
    const current = (await listed(context, kwargs)).get(name);
    if (current === undefined) {
      const added = await change(context, "add", { name, kwargs });
      if (!truthy(added.get("result"))) return resultOf(name, false, added.get("comment") ?? "");
      if (context.test) return resultOf(name, true, added.get("comment") ?? "", map({ [name]: "added" }));
      return resultOf(name, true, `Adding new job ${name} to schedule`, added.get("changes") ?? new Map());
    }
    const item = await context.call("schedule.build_schedule_item", [name], kwargs);
    if (isMap(item) && item.get("result") === false) return resultOf(name, false, item.get("comment") ?? "");
    if (equals(item, current)) return resultOf(name, true, `Job ${name} in correct state`);
    const modified = await change(context, "modify", { name, kwargs });
    if (!truthy(modified.get("result"))) return resultOf(name, false, modified.get("comment") ?? "");
    const comment = context.test ? modified.get("comment") ?? "" : `Modifying job ${name} in schedule`;
    return resultOf(name, true, comment, modified.get("changes") ?? new Map());
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: "Ensure that a job is not in the schedule.\n\nname\n    The name of the job.\n\n" +
    "persist : True\n    Whether it stays away after a restart.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.delete,
  run: async ({ name }, context, { kwargs }) => {
    if (!(await listed(context, kwargs)).has(name)) return resultOf(name, true, `Job ${name} not present in schedule`);
    const deleted = await change(context, "delete", { name, kwargs });
    if (context.test) return resultOf(name, true, deleted.get("comment") ?? "");
    if (!truthy(deleted.get("result"))) return resultOf(name, false, deleted.get("comment") ?? "");
    return resultOf(name, true, `Removed job ${name} from schedule`, deleted.get("changes") ?? new Map());
  },
});

/** Ensures that a job is enabled or disabled. As in Salt, the changes are empty. */
function switched(verb: "enable" | "disable") {
  const Past = verb === "enable" ? "Enabled" : "Disabled";
  return async (
    { name }: { readonly name: string },
    context: StateContext,
    { kwargs }: { readonly kwargs: ValueMap },
  ): Promise<StateResult> => {
    if (!(await listed(context, kwargs)).has(name)) return resultOf(name, true, `Job ${name} not present in schedule`);
    const answer = await change(context, `${verb}_job`, { name, kwargs });
    if (context.test) return resultOf(name, true, answer.get("comment") ?? "");
    if (!truthy(answer.get("result"))) return resultOf(name, false, answer.get("comment") ?? "");
    return resultOf(name, true, `${Past} job ${name} from schedule`);
  };
}

export const enabled: ModuleFunction<StateContext> = stateFn({
  doc: "Ensure that a job of the schedule is enabled.\n\nname\n    The name of the job.\n\n" +
    "persist : True\n    Whether it is enabled after a restart.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.enable_job,
  run: switched("enable"),
});

export const disabled: ModuleFunction<StateContext> = stateFn({
  doc: "Ensure that a job of the schedule is disabled.\n\nname\n    The name of the job.\n\n" +
    "persist : True\n    Whether it is disabled after a restart.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: SCHEDULE_KEYWORDS.disable_job,
  run: switched("disable"),
});
