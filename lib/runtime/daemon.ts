/**
 * Starts this program again in the background. `-d`: the program starts itself in a new session and waits until the
 * child is ready or has failed. `salt-run --async`: it starts itself and does not wait. Deno cannot fork.
 *
 * The child gets the same arguments, an environment variable that marks it, and a file as standard error: the last line
 * there says that the child is ready, or why it ended. The file is passed as a descriptor, so that a child that has
 * become another user can still write to it.
 * @module
 */

import { readTextFileIfExists, removeIfExists } from "#lib/os/atomic_file.ts";
import { type SelfCommand, selfCommand } from "./self_command.ts";
import { sleep } from "#lib/os/sleep.ts";

/** Marks the child. */
const CHILD_VARIABLE = "SALT_DAEMON_CHILD";

/** The child's message when it is ready. */
const READY = "The service is ready.";

/** Interval at which the parent looks at the child, in milliseconds. */
const LOOK_MS = 20;

/** The interface of a background process to its parent. */
export interface DaemonRole {
  /** Reports to the parent that the service is running, so that the parent can exit. */
  ready(): void;
}

/**
 * The role of a child that {@linkcode daemonize} has started; `undefined` in other processes. A child has no terminal
 * and must not daemonize again. Call it once, at start: it removes the variable, so that no child process inherits it.
 */
export function takeDaemonRole(): DaemonRole | undefined {
  if (Deno.env.get(CHILD_VARIABLE) !== "1") return undefined;
  Deno.env.delete(CHILD_VARIABLE);
  return { ready: () => void Deno.stderr.writeSync(new TextEncoder().encode(`${READY}\n`)) };
}

/** Options of {@linkcode daemonize}. */
export interface DaemonOptions {
  /** The program's own arguments, including `-d`. */
  readonly args: readonly string[];
  /**
   * Milliseconds to wait until the child is ready.
   * @default {30000}
   */
  readonly timeoutMs?: number;
  /** The command to start. Default: this program. */
  readonly self?: SelfCommand;
}

/** The result for the parent. */
export type DaemonOutcome =
  | { readonly kind: "ready"; readonly pid: number }
  | { readonly kind: "failed"; readonly message: string };

/** Starts this program in the background and waits until it is ready. A child that does not become ready is killed. */
export async function daemonize(options: DaemonOptions): Promise<DaemonOutcome> {
  const self = options.self ?? selfCommand();
  const errors = Deno.makeTempFileSync({ prefix: "salt_daemon_" });
  // A file, not a pipe: the pipe would break when the parent exits, and the child would die at its next output. `exec`
  // keeps the process id.
  const command = ["-c", 'errors=$1; shift; exec "$@" </dev/null >/dev/null 2>"$errors"', "sh", errors, self.command];
  const args = [...command, ...self.args, ...options.args];
  const child = spawnDetached("/bin/sh", args, { [CHILD_VARIABLE]: "1" });
  let status: Deno.CommandStatus | undefined;
  child.status.then((ended) => status = ended);
  try {
    const deadline = Date.now() + (options.timeoutMs ?? 30_000);
    while (lastLine(errors) !== READY) {
      if (status !== undefined) return { kind: "failed", message: lastLine(errors) ?? outcome(status) };
      if (Date.now() > deadline) {
        child.kill("SIGTERM");
        return { kind: "failed", message: `not ready in ${(options.timeoutMs ?? 30_000) / 1000} seconds; see its log` };
      }
      await sleep(LOOK_MS);
    }
    return { kind: "ready", pid: child.pid };
  } finally {
    removeIfExists(errors);
  }
}

/**
 * Starts this program with `args` in the background, without waiting for it.
 * @param env Variables in addition to those of this process.
 * @returns The process id.
 */
export function startDetached(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  self: SelfCommand = selfCommand(),
): number {
  return spawnDetached(self.command, [...self.args, ...args], env).pid;
}

/** Starts a command in a new session without a terminal. This process can exit before it. */
function spawnDetached(
  command: string,
  args: string[],
  env: Readonly<Record<string, string>> = {},
): Deno.ChildProcess {
  const child = new Deno.Command(command, {
    args,
    env: { ...env },
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  child.unref();
  return child;
}

function outcome({ code, signal }: Deno.CommandStatus): string {
  return signal === null ? `it ended at once with exit code ${code}` : `it was ended by ${signal}`;
}

/** The last non-empty line. */
function lastLine(path: string): string | undefined {
  return readTextFileIfExists(path)?.split("\n").map((line) => line.trim()).filter((line) => line !== "").at(-1);
}
