/**
 * State module `webutil`: users of the password files of web servers.
 * Source: Salt 3006.28 `salt/states/webutil.py`, which Salt 3008 has no longer.
 * @module
 */

import { keywords } from "./_execution.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["htpasswd"], otherwise: "Command not found: htpasswd" }],
};

/** Whether a file of passwords has a user. A file that is not there has none. */
function hasUser(path: string, user: string): boolean {
  return splitLines(readTextFileIfExists(path) ?? "").some((line) => line.startsWith(`${user}:`));
}

/** The result of htpasswd's run: its messages are on standard error. */
function outcome(name: string, answer: Value): StateResult {
  const result = mapOrEmpty(answer);
  const isDone = result.get("retcode") === 0;
  const changes = isDone ? map({ [name]: true }) : map({});
  return { name, result: isDone, comment: str(result.get("stderr") ?? answer), changes };
}

export const user_exists: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a file of passwords has a user.\n\nname\n    The user.\n\npassword\n    The password.\n\nhtpasswd_file\n    The path of the file.\n\n" +
    "options\n    Letters of htpasswd's options, such as `s`.\n\nforce\n    Whether the password is written although the user is there.\n\nrunas\n    The " +
    "user of this host who runs htpasswd.\n\nupdate\n    Whether another password of the user is replaced.",
  params: {
    name: p.str(),
    password: p.str(null),
    htpasswd_file: p.str(null),
    options: p.str(""),
    force: p.bool(false),
    runas: p.str(null),
    update: p.bool(false),
  },
  run: async ({ name, password, htpasswd_file, options, force, runas, update }, context) => {
    const path = htpasswd_file ?? "";
    const isThere = hasUser(path, name);
    const args = [htpasswd_file, name, password];
    const more = keywords({ opts: options, runas });
    const isOther = isThere && update && !force && !truthy(await context.call("webutil.verify", args, more));
    if (isThere && !isOther && !force) return { ...startResult(name), comment: "User already known" };
    if (context.test) {
      const comment = `User '${name}' is set to be added to htpasswd file`;
      return { ...startResult(name, null), comment, changes: map({ [name]: true }) };
    }
    return outcome(name, await context.call("webutil.useradd", args, more));
  },
});

export const user_absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a file of passwords does not have a user.\n\nname\n    The user.\n\nhtpasswd_file\n    The path of the file.\n\nrunas\n    The user of " +
    "this host who runs htpasswd.",
  params: { name: p.str(), htpasswd_file: p.str(null), runas: p.str(null) },
  run: async ({ name, htpasswd_file, runas }, context) => {
    if (!hasUser(htpasswd_file ?? "", name)) return { ...startResult(name), comment: "User already not in file" };
    if (context.test) {
      const comment = `User '${name}' is set to be removed from htpasswd file`;
      return { ...startResult(name, null), comment, changes: map({ [name]: true }) };
    }
    const more = keywords({ runas, all_results: true });
    return outcome(name, await context.call("webutil.userdel", [htpasswd_file, name], more));
  },
});
