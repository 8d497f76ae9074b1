/**
 * How this program is started once more: as sources under `deno run`, compiled, or packed with a launcher.
 * @module
 */

/**
 * V8's flags for every program of this project. New objects get 1 MB at a time before they are looked through, and not up to 16:
 * these threads make few that last, and each of them would keep what a busy moment had it take. 4 to 20 MB less for a process.
 * `gc` is for {@linkcode IdleMemory}, which calls it when a thread comes to rest.
 */
export const V8_FLAGS = "--max-semi-space-size=1,--expose-gc";

/**
 * What stands between `deno` and an entry: dependencies that are installed are neither compared with the lock file nor looked
 * for elsewhere, which takes 12 ms of every start.
 */
export const DENO_RUN: readonly string[] = [
  ...["run", "--allow-all", "--no-prompt", "--quiet", "--no-lock", "--node-modules-dir=manual"],
  `--v8-flags=${V8_FLAGS}`,
];

/** A program and its arguments. */
export interface SelfCommand {
  /** The executable. */
  readonly command: string;
  /** What comes before the arguments that are the program's own. */
  readonly args: readonly string[];
}

/** What {@linkcode selfCommand} goes by; this process's own by default. */
export interface SelfFacts {
  /** The launcher of a packed executable, which names itself in `SALT_EXECUTABLE`. */
  readonly launcher: string | undefined;
  /** Whether this is the work of `deno compile`. */
  readonly standalone: boolean;
  /** The running executable. */
  readonly execPath: string;
  /** URL of the entry. */
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

/** The command that starts this program again; the program's own arguments are to be added. */
export function selfCommand(facts: SelfFacts = thisProcess()): SelfCommand {
  if (facts.launcher !== undefined) return { command: facts.launcher, args: [] };
  if (facts.standalone) return { command: facts.execPath, args: [] };
  const main = decodeURIComponent(new URL(facts.mainModule).pathname);
  return { command: facts.execPath, args: [...DENO_RUN, main] };
}
