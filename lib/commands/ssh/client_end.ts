/**
 * The end of a function on a host as Salt's SSHClient has it, for programs.
 * Source: Salt 3008.3 `salt/client/ssh/client.py`; answers of its SSHClient.
 * @module
 */

import type { HostEnd, SshWork } from "./ssh_work.ts";
import { fromWireArgs } from "#lib/yaml/arguments.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";

/** ssh's exit code for a connection that failed. */
const EX_SSH = 255;

/** A map with `return` and the job; or with what ssh said, and `_error`, if there is no return. */
export function clientEnd(end: HostEnd, { work, jid }: { readonly work: SshWork; readonly jid: string }): Value {
  if (end.failure === "pre-flight" && isMap(end.return)) return end.return;
  if (end.failure !== undefined) {
    return map({
      stdout: "",
      stderr: end.return,
      retcode: EX_SSH,
      parsed: null,
      _error: "The command resulted in a non-zero exit code",
    });
  }
  if ("raw" in work) return end.return;
  const { args, kwargs } = fromWireArgs(work.arg);
  const fun_args = [...args, ...[...kwargs].map(([name, value]) => `${str(name)}=${str(value)}`)];
  return map({ jid, return: end.return, retcode: end.retcode, id: end.id, fun: work.fun, fun_args });
}
