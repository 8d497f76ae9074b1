/**
 * The process in which the runner `ssh` runs a function on hosts of rosters: a call on standard input, the ends of all
 * hosts on standard output. It has the rights of the one who started it, an operator.
 * @module
 */

import { clientEnd } from "./client_end.ts";
import { NO_FLAGS, SshFleet } from "./ssh_fleet.ts";
import { callingUser } from "#lib/commands/cli/calling_user.ts";
import { EX_NO_MINIONS } from "#lib/commands/cli/exit_codes.ts";
import { writeError } from "#lib/commands/cli/process_io.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { messageOf, RosterError, TargetError } from "#lib/errors.ts";
import { writeAll } from "#lib/os/write_all.ts";
import { unpackSshClientCall } from "#lib/ssh/client_call.ts";
import { openLog } from "#lib/runtime/log_sinks.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { ValueMap } from "#lib/values/value.ts";

/**
 * Runs the call.
 * @returns The exit code; what failed is on standard error.
 */
export async function runSshClient(): Promise<number> {
  const { opts: packed, tgt, tgtType, fun, arg, jid } = unpackSshClientCall(
    new Uint8Array(await new Response(Deno.stdin.readable).arrayBuffer()),
  );
  const given = unpackOpts("master", packed);
  const opts = { ...given, log_file: given.ssh_log_file };
  const { log, close } = openLog(opts, {});
  const call = { work: { fun, arg }, jid };
  try {
    const signal = new AbortController().signal;
    using fleet = new SshFleet({ opts, log, signal, user: callingUser(), isOperator: true, flags: NO_FLAGS });
    const hosts = await fleet.find({ tgt, tgtType, delimiter: ":" });
    const ends: ValueMap = new Map();
    await fleet.run(hosts, call, (end) => void ends.set(end.id, clientEnd(end, call)));
    writeAll(Deno.stdout, encode(ends, "disk"));
    return 0;
  } catch (error) {
    if (!(error instanceof RosterError || error instanceof TargetError)) throw error;
    writeError(messageOf(error));
    return EX_NO_MINIONS;
  } finally {
    close();
  }
}
