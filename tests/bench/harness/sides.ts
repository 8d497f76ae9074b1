/**
 * The implementations that are measured: ours, and Python's. Each starts the same programs with the same arguments.
 * @module
 */

import { DENO_RUN } from "#lib/runtime/self_command.ts";

/** A program of Salt. */
export type Program = "salt-master" | "salt-minion" | "salt-call" | "salt" | "salt-key" | "salt-run" | "salt-api";

/** One implementation. */
export interface Side {
  /** The heading of its column. */
  readonly name: string;
  /** The command that starts a program; its own arguments follow. */
  command(program: Program): readonly string[];
  /** The interpreter, for a script that uses Salt's own client; ours needs none. */
  readonly python?: string;
}

const ROOT = decodeURIComponent(new URL("../../..", import.meta.url).pathname);

const ENTRIES: Readonly<Record<Program, readonly string[]>> = {
  "salt-master": ["master.ts"],
  "salt-minion": ["minion.ts"],
  "salt-call": ["minion.ts", "--as", "salt-call"],
  "salt": ["salt.ts", "--as", "salt"],
  "salt-key": ["salt.ts", "--as", "salt-key"],
  "salt-run": ["salt.ts", "--as", "salt-run"],
  "salt-api": ["salt.ts", "--as", "salt-api"],
};

/** Ours, from the sources; `installed` of executables.ts returns the side of the executables. */
export const OURS: Side = {
  name: "ours",
  command(program) {
    const [entry, ...words] = ENTRIES[program];
    return [Deno.execPath(), ...DENO_RUN, `${ROOT}${entry}`, ...words];
  },
};

/**
 * The command of a program below `tests/bench`: like our own programs, but with V8's default memory limit, for programs
 * that must not be the bottleneck.
 */
export function benchCommand(file: string): string[] {
  return [Deno.execPath(), ...DENO_RUN.filter((word) => !word.startsWith("--v8-flags")), `${ROOT}tests/bench/${file}`];
}

/** The path of a script below `tests/bench`. */
export function benchScript(file: string): string {
  return `${ROOT}tests/bench/${file}`;
}
