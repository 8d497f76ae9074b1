/**
 * `cron.file`: a whole crontab from a file.
 * Source: Salt 3008.3 `salt/states/cron.py`.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, resultMap, startResult, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { saltenvOf } from "./_saltenv.ts";

/** The arguments of `cron.file`, as they are given. */
export interface CronFileArguments {
  readonly name: Value;
  readonly source_hash: Value;
  readonly source_hash_name: Value;
  readonly user: string;
  readonly template: Value;
  readonly context: Value;
  readonly replace: boolean;
  readonly defaults: Value;
  readonly backup: Value;
}

const MODE = "0600";

/**
 * Runs the state.
 * @param kwargs Keywords for the functions of the module file.
 */
export async function runCronFile(
  args: CronFileArguments,
  kwargs: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { name, user } = args;
  const group = await firstGroup(user, context);
  if (group === undefined) return failState(name, `Could not identify group for user ${user}`);
  const path = await Deno.makeTempFile({ prefix: "salt_cron_" });
  try {
    const now = str(await context.call("cron.raw_cron", [user]));
    await Deno.writeTextFile(path, now.endsWith("\n") ? now : `${now}\n`);
    if (!args.replace && (await Deno.stat(path)).size > 0) {
      return { ...startResult(name), comment: `User ${user} already has a crontab. No changes made` };
    }
    const saltenv = saltenvOf(context);
    return await manage(path, { ...args, group, saltenv }, kwargs, context);
  } finally {
    removeIfExists(path);
  }
}

async function firstGroup(user: string, context: StateContext): Promise<string | undefined> {
  const info = await context.call("user.info", [user]);
  const groups = isMap(info) ? info.get("groups") : undefined;
  return Array.isArray(groups) && groups.length > 0 ? str(groups[0]) : undefined;
}

/** Manages the file at `path`, and installs it as the user's crontab. */
async function manage(
  path: string,
  args: CronFileArguments & { readonly group: string; readonly saltenv: Value },
  kwargs: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { name, user, group, saltenv, source_hash_name, template, defaults } = args;
  const shared = { user, group, mode: MODE, attrs: [], template, context: args.context, defaults, saltenv };
  if (context.test) {
    const own = map({ name: path, source: name, source_hash: args.source_hash, source_hash_name, ...shared });
    const answer = await context.call("file.check_managed", [], new Map([...own, ...kwargs]));
    const [result, comment] = listOrEmpty(answer);
    return { ...startResult(name, typeof result === "boolean" ? result : null), comment: str(comment ?? "") };
  }
  const [source, source_hash] = listOrEmpty(
    await context.call("file.source_list", [name, args.source_hash, saltenv]),
  );
  try {
    const own = map({ name: path, source, source_hash, source_hash_name, skip_verify: false, ...shared });
    const [sfn, source_sum, problem] = listOrEmpty(
      await context.call("file.get_managed", [], new Map([...own, ...kwargs])),
    );
    if (problem) return failState(name, str(problem));
    const file = { name: path, sfn, source, source_sum, user, group, mode: MODE, attrs: [], saltenv };
    const ret = resultMap(startResult(name));
    const managed = stateResult(
      await context.call("file.manage_file", [], map({ ...file, ret, backup: args.backup })),
    );
    return await install(path, { ...managed, name }, user, context);
  } catch (error) {
    const text = messageOf(error);
    context.log("debug", `cron.file ${str(name)}: ${text}`);
    return failState(name, `Unable to manage file: ${text}`);
  }
}

async function install(path: string, managed: StateResult, user: string, context: StateContext): Promise<StateResult> {
  if (managed.changes.has("diff")) {
    const answer = await context.call("cron.write_cron_file_verbose", [user, path]);
    const result = mapOrEmpty(answer);
    if (result.get("retcode") === 0) {
      return { ...managed, result: true, comment: `Crontab for user ${user} was updated` };
    }
    const reason = str(result.get("stderr") ?? "");
    return failState(managed.name, `Unable to update user ${user} crontab ${path}. Error: ${reason}`);
  }
  if (managed.result !== true) return managed;
  return { ...startResult(managed.name), comment: `Crontab for user ${user} is in the correct state` };
}
