/**
 * Runner `ssh`: functions on hosts of rosters, for orchestration, the reactor and programs.
 * Source: Salt 3008.3 `salt/runners/ssh.py`.
 * @module
 */

import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { CommandError } from "#lib/errors.ts";
import { p } from "#lib/plugins/module.ts";
import { runBounded } from "#lib/programs/bounded_run.ts";
import { operatorProcess, SSH_CLIENT_PROCESS } from "#lib/runtime/self_command.ts";
import { packSshClientCall } from "#lib/ssh/client_call.ts";
import { asList } from "#lib/values/shape.ts";
import { decode } from "#lib/values/msgpack.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";

/** Maximum bytes of the returns of all hosts. */
const MAX_RETURNS = 2 ** 30;

export const cmd: RunnerFunction = runner({
  doc: runnerDoc(
    "Run a function on the hosts of rosters that a target matches, as `salt-ssh` does. For each host a map with its `return`, `retcode`, `jid`, `id`, `fun` and `fun_args`; if there is no return, with what ssh said in `stderr`, and `_error`.",
    "ssh.cmd 'web*' test.ping",
    "ssh.cmd web1 cmd.run arg='[\"df -h /\"]' timeout=20",
  ),
  params: {
    tgt: p.any(),
    fun: p.str(),
    arg: p.any([]),
    timeout: p.float(null),
    tgt_type: p.str("glob"),
    kwarg: p.dict(null),
  },
  async run({ tgt, fun, arg, timeout, tgt_type, kwarg }, { opts, signal, jid }) {
    const call = packSshClientCall({
      opts: packOpts("master", timeout === null ? opts : { ...opts, timeout }),
      tgt,
      tgtType: tgt_type,
      fun,
      arg: toWireArgs(asList(arg), kwarg ?? new Map()),
      jid,
    });
    const bounds = { signal, outputMax: MAX_RETURNS, stdin: call };
    const { retcode, stdout, stderr, excess } = await runBounded(operatorProcess(SSH_CLIENT_PROCESS), bounds);
    if (retcode !== 0) {
      throw new CommandError(new TextDecoder().decode(stderr).trim() || `The process for ssh ended with ${retcode}`);
    }
    if (excess !== undefined) throw new CommandError(`The returns of the hosts are larger than ${MAX_RETURNS} bytes`);
    return decode(stdout, "disk");
  },
});
