/**
 * State module `hg`: clones of Mercurial's repositories.
 * Source: Salt 3006.28 `salt/states/hg.py`, which Salt 3008 has no longer.
 * @module
 */

import { keywords } from "./_execution.ts";
import { CommandError } from "#lib/errors.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = { serves: [{ programs: ["hg"], otherwise: "Command hg not found" }] };

/** The arguments of a run. */
interface Wanted {
  readonly name: string;
  readonly rev: string | null;
  readonly target: string;
  readonly clean: boolean;
  readonly user: string | null;
  readonly identity: string | null;
  readonly opts: Value;
  readonly update_head: boolean;
}

/** The revision of the working directory, or the newest of the repository. */
async function revision({ target, user }: Wanted, rev: "." | "tip", context: StateContext): Promise<string> {
  return str(await context.call("hg.revision", [target], keywords({ user, rev })));
}

async function update(wanted: Wanted, context: StateContext): Promise<StateResult> {
  const { name, rev, target, clean, user, identity, opts, update_head } = wanted;
  const current = await revision(wanted, ".", context);
  if (current === "") return failState(name, `Seems that ${target} is not a valid hg repo`);
  if (context.test) {
    const comment = `Repository ${target} update is probably required (current revision is ${current})`;
    return { ...startResult(name, null), comment };
  }
  const pulled = str(await context.call("hg.pull", [target], keywords({ user, identity, opts, repository: name })));
  if (!update_head) {
    const comment = pulled.includes("no changes found")
      ? "No changes found and update_head=False so will skip updating."
      : "Update is probably required but update_head=False so we will skip updating.";
    return { ...startResult(name), comment };
  }
  await context.call("hg.update", [target, rev || "tip"], keywords({ force: clean, user }));
  const reached = await revision(wanted, ".", context);
  if (current !== reached) {
    const changes = map({ revision: `${current} => ${reached}` });
    return { ...startResult(name), comment: `Repository ${target} updated.`, changes };
  }
  return pulled.includes("error:") ? failState(name, `An error was thrown by hg:\n${pulled}`) : startResult(name);
}

async function clone(wanted: Wanted, context: StateContext): Promise<StateResult> {
  const { name, rev, target, user, identity, opts } = wanted;
  const answer = await context.call("hg.clone", [target, name], keywords({ user, identity, opts }));
  if (!isDirectory(target)) return failState(name, str(answer));
  if (rev) await context.call("hg.update", [target, rev], keywords({ user }));
  const changes = map({ new: name, revision: await revision(wanted, "tip", context) });
  return { ...startResult(name), comment: `Repository ${name} cloned to ${target}`, changes };
}

export const latest: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a directory is a clone of a repository, at a revision.\n\nname\n    The address of the repository.\n\nrev\n    The branch, tag or hash. " +
    "Default: the newest.\n\ntarget\n    The directory.\n\nclean\n    Whether what was changed there is lost.\n\nuser\n    The user who runs hg.\n\n" +
    "identity\n    A key for ssh.\n\nforce\n    Whether another directory is removed for it.\n\nopts\n    Further options of hg.\n\nupdate_head\n    " +
    "Whether the files are updated, too.",
  params: {
    name: p.str(),
    rev: p.str(null),
    target: p.str(null),
    clean: p.bool(false),
    user: p.str(null),
    identity: p.str(null),
    force: p.bool(false),
    opts: p.any(false),
    update_head: p.bool(true),
  },
  run: async ({ force, target, ...given }, context): Promise<StateResult> => {
    const { name } = given;
    if (!target) return failState(name, '"target option is required');
    const wanted = { ...given, target };
    try {
      if (isDirectory(`${target}/.hg`)) return await update(wanted, context);
      const isThere = isDirectory(target);
      if (isThere && !force && [...Deno.readDirSync(target)].length > 0) {
        return failState(name, "Directory exists, and is not empty");
      }
      if (context.test) {
        return { ...startResult(name, null), comment: `Repository ${name} is about to be cloned to ${target}` };
      }
      if (isThere) removeAny(target);
      return await clone(wanted, context);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return failState(name, error.message);
    }
  },
});
