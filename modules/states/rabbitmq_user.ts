/**
 * State module `rabbitmq_user`: users of RabbitMQ, their passwords, tags and permissions.
 * Source: Salt 3008.3 `salt/states/rabbitmq_user.py`.
 * @module
 */

import { NEEDS_RABBITMQ, orError, rabbitmq } from "./_rabbitmq.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { asList, listOrEmpty, mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = NEEDS_RABBITMQ;

/** The permissions of one virtual host. */
interface Granted {
  readonly vhost: string;
  readonly configure: Value;
  readonly write: Value;
  readonly read: Value;
}

/**
 * The wanted permissions: a list of maps, from a virtual host to three patterns.
 * @throws {InvocationError} If they are something else.
 */
function grantsOf(perms: Value): Granted[] {
  return asList(perms).flatMap((entry) => {
    if (!isMap(entry)) throw new InvocationError("perms is a list of maps, from a virtual host to three patterns");
    return [...entry].map(([vhost, patterns]) => {
      const [configure, write, read] = listOrEmpty(patterns);
      if (read === undefined) {
        throw new InvocationError(`The permissions in ${str(vhost)} are not three patterns: configure, write and read`);
      }
      return { vhost: str(vhost), configure, write, read };
    });
  });
}

/** A run of `present`: the arguments, and what has changed so far. */
interface Run {
  readonly name: string;
  readonly runas: string | null;
  readonly changes: ValueMap;
  readonly context: StateContext;
}

/** Calls a function that changes something; not in test mode. */
async function change({ name, runas, context }: Run, fun: string, args: readonly Value[] = [name]): Promise<void> {
  if (!context.test) await rabbitmq(fun, args, runas, context);
}

async function setPassword(run: Run, password: string | null): Promise<void> {
  if (password === null) {
    await change(run, "clear_password");
    run.changes.set("password", map({ old: "Removed password.", new: "" }));
    return;
  }
  await change(run, "change_password", [run.name, password]);
  run.changes.set("password", map({ old: "", new: "Set password." }));
}

async function currentTags({ name, runas, context }: Run): Promise<Value[]> {
  try {
    return listOrEmpty(mapOrEmpty(await rabbitmq("list_users", [], runas, context)).get(name));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    context.log("error", `Error: ${error.message}`);
    return [];
  }
}

async function setTags(run: Run, given: Value): Promise<void> {
  const tags = typeof given === "string" ? splitWhitespace(given) : asList(given);
  const current = await currentTags(run);
  const isSame = tags.every((tag) => current.includes(tag)) && current.every((tag) => tags.includes(tag));
  if (isSame) return;
  await change(run, "set_user_tags", [run.name, tags]);
  run.changes.set("tags", map({ old: current, new: tags }));
}

async function setPermissions(run: Run, grants: readonly Granted[]): Promise<void> {
  const existing = mapOrEmpty(await rabbitmq("list_user_permissions", [run.name], run.runas, run.context));
  const wanted = ({ configure, write, read }: Granted): ValueMap => map({ configure, write, read });
  if (grants.every((grant) => equals(existing.get(grant.vhost) ?? null, wanted(grant)))) return;
  for (const grant of grants) {
    const { vhost, configure, write, read } = grant;
    await change(run, "set_permissions", [vhost, run.name, configure, write, read]);
    const there = existing.get(vhost);
    if (there !== undefined && equals(there, wanted(grant))) continue;
    const changes = mapUnder(run.changes, "perms");
    if (isMap(there)) { for (const [key, value] of there) mapUnder(changes, "old").set(key, value); }
    mapUnder(changes, "new").set(vhost, wanted(grant));
  }
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a user exists.\n\nname\n    The user.\n\npassword\n    The password. Without it a new user cannot log in with one.\n\nforce\n    " +
    "Whether the password is set, or without one removed, although it is the same.\n\ntags\n    The tags, as a list or a text with blanks.\n\nperms\n    " +
    "A list of maps: a virtual host with three patterns, of what may be configured, written and read.\n\nrunas\n    The user who runs rabbitmqctl.",
  params: {
    name: p.str(),
    password: p.str(null),
    force: p.bool(false),
    tags: p.any(null),
    perms: p.any([]),
    runas: p.str(null),
  },
  run: ({ name, password, force, tags, perms, runas }, context) =>
    orError(name, async (): Promise<StateResult> => {
      const run: Run = { name, runas, changes: new Map(), context };
      const grants = truthy(perms) ? grantsOf(perms) : [];
      const isThere = truthy(await rabbitmq("user_exists", [name], runas, context));
      const isOther = isThere && password !== null &&
        !truthy(await rabbitmq("check_password", [name, password], runas, context));
      if (isThere && !force && !isOther && grants.length === 0 && !truthy(tags)) {
        return { ...startResult(name), comment: `User '${name}' is already present.` };
      }
      if (!isThere) {
        run.changes.set("user", map({ old: "", new: name }));
        if (context.test) {
          const comment = `User '${name}' is set to be created.`;
          return { ...startResult(name, null), comment, changes: run.changes };
        }
      }
      try {
        if (!isThere) await rabbitmq("add_user", [name, password], runas, context);
        else if (force || isOther) await setPassword(run, password);
        if (tags !== null) await setTags(run, tags);
        await setPermissions(run, grants);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        return failState(name, `Error: ${error.message}`, run.changes);
      }
      if (run.changes.size === 0) {
        return { ...startResult(name), comment: `'${name}' is already in the desired state.` };
      }
      return {
        ...startResult(name, context.test ? null : true),
        comment: context.test ? `Configuration for '${name}' will change.` : `'${name}' was configured.`,
        changes: run.changes,
      };
    }),
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a user does not exist.\n\nname\n    The user.\n\nrunas\n    The user who runs rabbitmqctl.",
  params: { name: p.str(), runas: p.str(null) },
  run: ({ name, runas }, context) =>
    orError(name, async (): Promise<StateResult> => {
      if (!truthy(await rabbitmq("user_exists", [name], runas, context))) {
        return { ...startResult(name), comment: `The user '${name}' is not present.` };
      }
      const changes = map({ name: { old: name, new: "" } });
      if (context.test) return { ...startResult(name, null), comment: `The user '${name}' will be removed.`, changes };
      await rabbitmq("delete_user", [name], runas, context);
      return { ...startResult(name), comment: `The user '${name}' was removed.`, changes };
    }),
});
