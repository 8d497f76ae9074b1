/**
 * How this program is started once more: as sources under `deno run`, compiled, or packed with a launcher.
 * @module
 */

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
  return { command: facts.execPath, args: ["run", "--allow-all", "--no-prompt", "--quiet", main] };
}
