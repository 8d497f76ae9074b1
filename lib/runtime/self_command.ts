/**
 * The command that starts this program again: as sources with `deno run`, compiled, or packed with a launcher.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";

/**
 * V8's flags for the programs of this project. The young generation is 1 MB instead of up to 16: these threads make few
 * long-lived objects, and each thread would keep what a busy moment needed. Saves 4 to 20 MB per process. `gc` is for
 * {@linkcode IdleMemory}.
 */
export const V8_FLAGS = "--max-semi-space-size=1,--expose-gc";

/**
 * V8's flags for the commands of packed executables, which mostly end after some hundredths of a second: the young
 * generation begins with 4 MB, so that garbage is not collected in that time, and no thread begins to compile. Saves 2
 * to 3 ms of 40. It stays 4 MB: with 16, V8's own bound, a run of 10,000 states held 154 MB instead of 98.
 * `--single-threaded` would save one more, but commands of a tenth of a second and more would take a tenth longer.
 */
export const COMMAND_V8_FLAGS =
  "--min-semi-space-size=4,--max-semi-space-size=4,--baseline-batch-compilation-threshold=131072,--expose-gc";

/**
 * Arguments between `deno` and an entry file: installed dependencies are not compared with the lock file nor searched
 * elsewhere, which would take 12 ms at each start.
 */
export const DENO_RUN: readonly string[] = [
  ...["run", "--allow-all", "--no-prompt", "--quiet", "--no-lock", "--node-modules-dir=manual"],
  `--v8-flags=${V8_FLAGS}`,
];

/** A program and its first arguments. */
export interface SelfCommand {
  readonly command: string;
  /** Arguments before the program's own. */
  readonly args: readonly string[];
}

/** The facts for {@linkcode selfCommand}; default: those of this process. */
export interface SelfFacts {
  /** The launcher of a packed executable, which sets `SALT_EXECUTABLE` to its own path. */
  readonly launcher: string | undefined;
  /** Whether `deno compile` made this executable. */
  readonly standalone: boolean;
  readonly execPath: string;
  /** URL of the entry file. */
  readonly mainModule: string;
}

function thisProcess(): SelfFacts {
  return {
    launcher: Deno.env.get("SALT_EXECUTABLE") || undefined,
    standalone: Deno.build.standalone,
    execPath: Deno.execPath(),
    mainModule: Deno.mainModule,
  };
}

/** The command that starts this program again; add the program's own arguments. */
export function selfCommand(facts: SelfFacts = thisProcess()): SelfCommand {
  if (facts.launcher !== undefined) return { command: facts.launcher, args: [] };
  if (facts.standalone) return { command: facts.execPath, args: [] };
  const main = decodeURIComponent(new URL(facts.mainModule).pathname);
  return { command: facts.execPath, args: [...DENO_RUN, main] };
}

/**
 * The words that start this program as one of the minion's inner processes, which `minion.ts` knows by `name`. Not the
 * launcher of a packed executable: the minion's user may not find what the launcher unpacked for the user who started
 * the minion.
 */
export function ownProcess(name: string): string[] {
  return innerProcess(new URL("../../minion.ts", import.meta.url), name);
}

/** The name by which `master.ts` knows the process of a function of a runner or a wheel module. */
export const FUNCTION_PROCESS = "salt-master-function";

/** The name by which `master.ts` knows a process that compiles pillars. */
export const PILLAR_PROCESS = "salt-master-pillar";

/** The name by which `master.ts` knows the process that renders the reactor's files. */
export const REACTOR_PROCESS = "salt-master-reactor";

/** The name by which `master.ts` and `minion.ts` know the process of an engine. */
export const ENGINE_PROCESS = "salt-engine";

/** The name by which `minion.ts` knows the process that compiles the minion's own pillar. */
export const OWN_PILLAR_PROCESS = "salt-minion-pillar";

/** The name by which `salt.ts` knows a process that compiles pillars of hosts of `salt-ssh`. */
export const SSH_PILLAR_PROCESS = "salt-ssh-pillar";

/** The name by which `salt.ts` knows the process that runs a function on hosts of `salt-ssh` for the runner `ssh`. */
export const SSH_CLIENT_PROCESS = "salt-ssh-client";

/**
 * As {@linkcode ownProcess}, for those that `salt.ts` knows: of the same sources, or of the executable `salt` in this
 * executable's directory.
 */
export function operatorProcess(name: string): string[] {
  const [program, ...words] = operatorCommand("salt");
  return words.length === 0 ? [program, "--as", name] : operatorCommand(name);
}

/** As {@linkcode ownProcess}, for those that `master.ts` knows. */
export function masterProcess(name: string): string[] {
  return innerProcess(new URL("../../master.ts", import.meta.url), name);
}

function innerProcess(entry: URL, name: string): string[] {
  const words = ["--as", name];
  if (Deno.build.standalone) return [Deno.execPath(), ...words];
  return [Deno.execPath(), ...DENO_RUN, decodeURIComponent(entry.pathname), ...words];
}

/**
 * The words that start one of the operator's commands, `salt-run`, of this installation: of the same sources, or in
 * this executable's directory. The caller must check whether the file exists.
 */
export function operatorCommand(name: string, facts: SelfFacts = thisProcess()): string[] {
  const own = facts.launcher ?? (facts.standalone ? facts.execPath : undefined);
  if (own !== undefined) return [`${dirName(own)}/${name}`];
  const entry = new URL("../../salt.ts", import.meta.url);
  return [facts.execPath, ...DENO_RUN, decodeURIComponent(entry.pathname), "--as", name];
}
