/**
 * Shared parts of state module `file`: owners, paths, and comments from failures of execution functions. Source: Salt
 * 3008.3 `salt/states/file.py`.
 * @module
 */

import { CommandError, RenderError } from "#lib/errors.ts";
import { gidToGroup } from "#lib/host/filesystem/ownership.ts";
import { pythonErrorText, systemError } from "#lib/os/deno_texts.ts";
import { findUser } from "#lib/os/users.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { renderedText } from "#lib/states/compiler/high.ts";
import { isInt, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The argument `user`, or `owner`, by which it is misnamed. */
export function ownerOf(user: Value, kwargs: ValueMap, context: StateContext): Value {
  if (truthy(user) || !kwargs.has("owner")) return user;
  context.log("warning", 'Use of argument owner found, "owner" is invalid, please use "user"');
  return kwargs.get("owner") ?? null;
}

/**
 * What is wrong with a user and a group; empty text if nothing is. In test mode a state before this one may make them.
 */
export async function unknownOwners(user: Value, group: Value, context: StateContext): Promise<string> {
  let problem = "";
  if (truthy(user) && await context.call("file.user_to_uid", [user]) === "") {
    problem += `User ${str(user)} is not available `;
  }
  if (truthy(group) && await context.call("file.group_to_gid", [group]) === "") {
    problem += `Group ${str(group)} is not available`;
  }
  if (problem === "" || !context.test) return problem;
  context.log("warning", problem);
  return "";
}

/** The user that this minion runs as, and that user's group, if the state names none. */
export function defaultOwners(
  user: Value,
  group: Value,
  context: StateContext,
): { readonly user: Value; readonly group: Value } {
  const owner = user ?? context.opts.user;
  // Salt calls user.info, which starts a program here.
  return { user: owner, group: group ?? gidToGroup(findUser(isInt(owner) ? Number(owner) : str(owner))?.gid ?? 0) };
}

/** Owner and mode of new directories. */
export interface Owners {
  readonly user?: Value;
  readonly group?: Value;
  readonly mode?: Value;
}

/** Makes the directories above `name`. */
export async function makeDirectoriesAbove(name: string, owners: Owners, context: StateContext): Promise<void> {
  await context.call("file.makedirs", [name], map({ ...owners }));
}

/** Salt's comment for a path that is not. */
export function notAbsolute(path: string): string {
  return `Specified file ${path} is not an absolute path`;
}

/** Whether the host, and not this program, is what refused: Salt's CommandExecutionError, or an error of the system. */
export function isHostError(error: unknown): error is Error {
  return error instanceof CommandError || error instanceof Error && systemError(error) !== undefined;
}

/** The text of an error: of a template with its excerpt, of the system as Python's OSError. */
export function reasonOf(error: unknown): string {
  return error instanceof RenderError ? error.saltText : pythonErrorText(error);
}

/** A failure with what the result says so far, and without changes. */
export function withoutChanges(result: StateResult, comment: string): StateResult {
  return { ...result, result: false, comment, changes: new Map() };
}

/**
 * How an argument of this state becomes text where Salt calls `str`: the maps of an SLS are of another class in Salt,
 * and print otherwise, than those of pillar and of a command line.
 */
export function argumentText({ low }: StateContext): (value: Value) => string {
  return low.has("__sls__") ? renderedText : str;
}

/**
 * A text, a list of texts, or anything else as the texts that it is made of.
 * @param written What makes text of the rest.
 */
export function textList(given: Value, written: (value: Value) => string = str): string[] {
  if (given instanceof Uint8Array) return [new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(given)];
  return Array.isArray(given) ? given.map(written) : [written(given)];
}

/** The comment that Salt's test mode has under a change. */
export const ACTUAL_CHANGES = "\nNote: No changes made, actual changes may\nbe different due to other states.";

/** Whether a regular expression matches in a file. */
export async function isFoundIn(name: string, regex: string, context: StateContext): Promise<boolean> {
  return truthy(await context.call("file.search", [name, regex], map({ multiline: true })));
}
