/**
 * Finds the host's Python for plugins in Python.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";

/** The program that is searched in PATH. */
const PYTHON = "python3";

/**
 * The path of the Python that runs plugins.
 * @param chosen The option `python`: a path, or a name in PATH. `null`: `python3`.
 * @throws {CommandError} If there is none.
 */
export function pythonProgram(chosen: string | null): string {
  const path = which(chosen ?? PYTHON);
  if (path !== undefined) return path;
  throw new CommandError(
    chosen === null
      ? "it is in Python, and this host has no python3 (option python)"
      : `it is in Python, and there is no program ${chosen} (option python)`,
  );
}
