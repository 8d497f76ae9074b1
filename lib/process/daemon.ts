/**
 * This program once more, in the background. `-d`: it starts itself again in a session of its own, and waits until that one
 * is ready or has failed. `salt-run --async`: it starts itself again and does not wait.
 *
 * Deno cannot fork. The parent gives the child its arguments unchanged, a variable that says what it is, and a file as
 * standard error: the child's last line in it is either that it is ready, or why it ended. A descriptor, so that a
 * child that has become another user can still write to it.
 * @module
 */

import { readTextFileIfExists, removeIfExists } from "../os/atomic_file.ts";
import { type SelfCommand, selfCommand } from "./self_command.ts";

/** Tells the child what it is. */
const CHILD_VARIABLE = "SALT_DAEMON_CHILD";

/** What the child says when it is ready. */
const READY = "The service is ready.";

/** How often the parent looks, in milliseconds. */
const LOOK_MS = 20;

/** What a process in the background has to do for the one that started it. */
export interface DaemonRole {
  /** Tells the parent that the service is up: it may end. */
  ready(): void;
}

/**
 * The part of the child, if this process was started by {@linkcode daemonize}: it has no terminal, and must not start
 * another. To be asked once, at start: the variable behind it is taken out of the environment, so that no child inherits it.
 */
export function takeDaemonRole(): DaemonRole | undefined {
  if (Deno.env.get(CHILD_VARIABLE) !== "1") return undefined;
  Deno.env.delete(CHILD_VARIABLE);
  return { ready: () => void Deno.stderr.writeSync(new TextEncoder().encode(`${READY}\n`)) };
}

/** How {@linkcode daemonize} starts and waits. */
export interface DaemonOptions {
  /** The program's own arguments, `-d` and all. */
  readonly args: readonly string[];
  /** Milliseconds to wait until the child is ready. @default {30000} */
  readonly timeoutMs?: number;
  /** Default: this program. */
  readonly self?: SelfCommand;
}

/** What became of the child. */
export type DaemonOutcome =
  | { readonly kind: "ready"; readonly pid: number }
  | { readonly kind: "failed"; readonly message: string };

/** Starts this program in the background, and tells whether it came up. A child that does not is ended. */
export async function daemonize(options: DaemonOptions): Promise<DaemonOutcome> {
  const self = options.self ?? selfCommand();
  const errors = Deno.makeTempFileSync({ prefix: "salt_daemon_" });
  // A file and no pipe: a pipe would break when the parent ends, and whatever the runtime then prints would end the
  // service. `exec` keeps the process id.
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
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return { kind: "ready", pid: child.pid };
  } finally {
    removeIfExists(errors);
  }
}

/**
 * Starts this program with `args` in the background, and leaves it to itself.
 * @param env Variables beside those of this process.
 * @returns The process id.
 */
export function startDetached(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  self: SelfCommand = selfCommand(),
): number {
  return spawnDetached(self.command, [...self.args, ...args], env).pid;
}

/** Starts a command in a session of its own, without a terminal; this process does not wait for it at its end. */
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

/** The last line that says something. */
function lastLine(path: string): string | undefined {
  return readTextFileIfExists(path)?.split("\n").map((line) => line.trim()).filter((line) => line !== "").at(-1);
}
