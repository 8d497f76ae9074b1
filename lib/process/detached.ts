/**
 * Starts this program once more, in a session of its own and without a terminal, and leaves it to itself.
 * @module
 */

import { type SelfCommand, selfCommand } from "./self_command.ts";

/**
 * Starts this program with `args` in the background.
 * @param env Variables beside those of this process.
 * @returns The process id.
 */
export function startDetached(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  self: SelfCommand = selfCommand(),
): number {
  const child = new Deno.Command(self.command, {
    args: [...self.args, ...args],
    env: { ...env },
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  child.unref();
  return child.pid;
}
