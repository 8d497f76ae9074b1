/**
 * Owner, group, mode, attributes and SELinux context of a file, as states bring them about by `file.check_perms`.
 * Source: Salt 3008.3 `salt/states/file.py`, `salt/modules/file.py` check_perms.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { resultMap, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The wanted permissions of a file. None changes nothing. */
export interface FilePermissions {
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
  readonly attrs?: Value;
  /** Whether a link counts as what it leads to. Default: false. */
  readonly follow?: boolean;
  /** `seuser`, `serole`, `setype`, `serange`. */
  readonly selinux?: ValueMap;
}

/**
 * The parts of a SELinux context that the argument `selinux` tells, by the names of the execution module's arguments.
 */
export function selinuxOf(selinux: Value): ValueMap {
  const labels = isMap(selinux) ? selinux : new Map<Value, Value>();
  return new Map(["seuser", "serole", "setype", "serange"].map((part) => [part, labels.get(part) ?? null]));
}

/** `ret` with what was changed, or in test mode would be, and what was there before: `luser`, `lgroup`, `lmode`. */
export async function permissionResult(
  ret: StateResult,
  { path, wanted }: { readonly path: string; readonly wanted: FilePermissions },
  context: StateContext,
): Promise<{ readonly ret: StateResult; readonly before: ValueMap }> {
  const { user, group, mode, attrs = null, follow = false, selinux = new Map() } = wanted;
  const answer = await context.call(
    "file.check_perms",
    [path, resultMap(ret), user, group, mode, attrs, follow],
    new Map(selinux),
  );
  if (!Array.isArray(answer) || !isMap(answer[1])) throw new TypeError("file.check_perms returns two dicts");
  return { ret: stateResult(answer[0]), before: answer[1] };
}

/** Sets the permissions of a file, in a separate state. */
export function permissionsAlone(path: string, wanted: FilePermissions, context: StateContext): Promise<StateResult> {
  const ret: StateResult = { name: path, result: true, comment: "", changes: map({}) };
  return permissionResult(ret, { path, wanted }, context).then((done) => done.ret);
}
