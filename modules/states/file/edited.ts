/**
 * Shared parts of states that edit a file: the checks before, and the diff after. Source: Salt 3008.3
 * `salt/states/file.py` _check_file.
 * @module
 */

import { isAbsolute } from "#lib/os/paths.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import { notAbsolute } from "./common.ts";
import { isText } from "#lib/host/filesystem/contents.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { map, type Value } from "#lib/values/value.ts";

/** What keeps a file from being edited: its path is not absolute, or it is not there; `undefined` if nothing does. */
export function missingFile(name: string): string | undefined {
  if (!isAbsolute(name)) return notAbsolute(name);
  return existsOrThrow(name) ? undefined : `${name}: file not found`;
}

/** The result of a state that needs a name, or a file that is there. */
export function refusedFile(name: string, fun: string): StateResult | undefined {
  if (name === "") return failState(name, `Must provide name to ${fun}`);
  const problem = missingFile(name);
  return problem === undefined ? undefined : failState(name, problem);
}

/**
 * A diff as changes show it: not of binary files, and not where the state says so.
 * @param diff It.
 */
export function shownDiff(name: string, diff: string, showChanges = true): string {
  if (!isText(name)) return "Replace binary file";
  return showChanges ? diff : "<show_changes=False>";
}

/**
 * The result of an execution function that edits a file, and returns a diff, true, or what counts as false.
 * @param would The comment in test mode.
 */
export function editResult(name: string, changed: Value, would: string, { test }: StateContext): StateResult {
  if (changed === false || changed === "" || changed === null) {
    return { ...startResult(name), comment: "No changes needed to be made" };
  }
  return {
    name,
    result: test ? null : true,
    comment: test ? would : "Changes were made",
    changes: map({ diff: changed }),
  };
}
