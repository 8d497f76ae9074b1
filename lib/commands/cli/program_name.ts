/**
 * The name under which this program was started: links to an executable make it several commands, as with busybox.
 * @module
 */

import { baseName } from "#lib/os/paths.ts";
import { sanitizeLine } from "#lib/text/terminal.ts";

/** A program's name and its own arguments. */
export interface Program {
  readonly name: string;
  /** What was typed after the name. */
  readonly args: string[];
}

/**
 * The name: that of the launcher or compiled executable; or the word after `--as`, for sources under `deno run`, which
 * have no other way to get a name.
 * @param fallback The name of the sources' entry when nothing says otherwise.
 */
export function programName(args: readonly string[], fallback: string): Program {
  if (args[0] === "--as" && args.length > 1) return { name: args[1], args: args.slice(2) };
  const path = Deno.env.get("SALT_EXECUTABLE") || (Deno.build.standalone ? calledAs() : fallback);
  return { name: baseName(path), args: [...args] };
}

/** The error text for a program that was started under an unknown name; the exit code is that of a usage error. */
export function unknownNameText(name: string, known: readonly string[]): string {
  return sanitizeLine(`${name}: there is no such program; this executable can be linked as ${known.join(", ")}`) + "\n";
}

/** The word that a compiled executable was called by; `Deno.execPath()` would name the file behind the link. */
function calledAs(): string {
  const { process } = globalThis as { process?: { argv0?: string } };
  return process?.argv0 || Deno.execPath();
}
