/**
 * Execution module `ret`: reads what returners have stored.
 * Source: the functions of Salt 3008.3 `salt/modules/ret.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { returnerNames } from "#lib/returners/names.ts";
import type { Value } from "#lib/values/value.ts";

/** Returners connect to servers and open files: each would declare as much. */
const PERMISSIONS = "all";

export const get_jid: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what a returner has stored of a job, by minion.",
    "ret.get_jid redis 20421104181954700505",
  ),
  permissions: PERMISSIONS,
  params: { returner: p.str(), jid: p.str() },
  run: ({ returner, jid }, context) => callReturner(returner, "get_jid", [jid], context),
});

export const get_fun: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the last return of a function that a returner has stored, by minion.",
    "ret.get_fun mysql network.interfaces",
  ),
  permissions: PERMISSIONS,
  params: { returner: p.str(), fun: p.str() },
  run: ({ returner, fun }, context) => callReturner(returner, "get_fun", [fun], context),
});

export const get_jids: ModuleFunction<JobContext> = fn({
  doc: describe("Return the jobs that a returner has stored.", "ret.get_jids mysql"),
  permissions: PERMISSIONS,
  params: { returner: p.str() },
  run: ({ returner }, context) => callReturner(returner, "get_jids", [], context),
});

export const get_minions: ModuleFunction<JobContext> = fn({
  doc: describe("Return the ids of the minions whose returns a returner has stored.", "ret.get_minions mysql"),
  permissions: PERMISSIONS,
  params: { returner: p.str() },
  run: ({ returner }, context) => callReturner(returner, "get_minions", [], context),
});

/** @throws {CommandError} If there is no such returner, or it has no such function. */
async function callReturner(returner: string, fun: string, args: Value[], context: JobContext): Promise<Value> {
  const { names: [name] } = returnerNames(returner);
  const full = `returners/${name}.${fun}`;
  const reader = name === undefined ? undefined : await context.catalogue.get(full);
  if (reader === undefined) throw new CommandError(`'${returner}.${fun}' is not available.`);
  return await invoke(reader, { name: full, args, kwargs: new Map(), context });
}
