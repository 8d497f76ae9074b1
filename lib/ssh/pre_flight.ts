/**
 * The script of the roster that runs on a host before anything else: `ssh_pre_flight`.
 * Source: Salt 3008.3 `salt/client/ssh/__init__.py` (Single.run).
 * @module
 */

import { messageOf, SshError } from "#lib/errors.ts";
import type { SshConnection } from "./connection.ts";
import { preFlightCommand } from "./host_scripts.ts";
import { KeptText } from "./kept_text.ts";
import { newMark } from "./marked_session.ts";
import type { RosterHost } from "./roster.ts";

/** What a command line on a host has written, and its exit code. */
export interface RawOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly retcode: number;
}

/** A script that ended with another code than 0: nothing else runs on the host. */
export class PreFlightError extends SshError {
  override name = "PreFlightError";
  constructor(readonly outcome: RawOutcome) {
    super("pre-flight", `ssh_pre_flight ended with ${outcome.retcode}: ${outcome.stderr.trim()}`);
  }
}

/**
 * Runs a script of this control host on a host.
 * @param path Its path here.
 * @throws {PreFlightError} If it ends with another code than 0.
 * @throws {SshError} If it cannot be read, or the connection ends.
 */
export async function runPreFlight(
  connection: SshConnection,
  host: RosterHost,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const script = readScript(path);
  const command = preFlightCommand(host, { mark: newMark(), size: script.length });
  const outcome = await rawOutcome(connection, command, { input: script, tty: false, signal });
  if (outcome.retcode === 0) return;
  if (connection.isOver) {
    throw connection.lost();
  }
  throw new PreFlightError(outcome);
}

/** Runs a command line to its end. */
export async function rawOutcome(
  connection: SshConnection,
  command: string,
  { input, tty, signal }: { readonly input?: Uint8Array; readonly tty?: boolean; readonly signal: AbortSignal },
): Promise<RawOutcome> {
  const session = connection.run(command, { tty });
  const give = () => session.kill();
  signal.addEventListener("abort", give);
  try {
    const [stdout, stderr] = [new KeptText(), new KeptText()];
    const write = async () => {
      if (input !== undefined) await session.stdin.write(input);
      await session.stdin.close();
    };
    // A command that does not read its input closes it.
    await Promise.all([write().catch(() => {}), stdout.readAll(session.stdout), stderr.readAll(session.stderr)]);
    const retcode = await session.code;
    signal.throwIfAborted();
    return { stdout: stdout.text, stderr: stderr.text, retcode };
  } finally {
    signal.removeEventListener("abort", give);
  }
}

/** @throws {SshError} If it cannot be read: Salt runs the function without it. */
function readScript(path: string): Uint8Array<ArrayBuffer> {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    throw new SshError("pre-flight", `The script of ssh_pre_flight, ${path}, cannot be read: ${messageOf(error)}`);
  }
}
