/**
 * Python Salt to compare with, where it is installed: the virtual environments of the interop tests, which make them.
 *
 * `SALT_INTEROP_VENVS` names the directory that holds one for each version; without it they are in the user's cache.
 * @module
 */

import type { Program, Side } from "./sides.ts";

/** The versions that are worth a comparison. */
export const PYTHON_SALTS = ["3008.3", "3006.28"] as const;

/** Python Salt of a version; `undefined` where it is not installed. */
export function findPythonSalt(version: string): Side | undefined {
  const cache = Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME") ?? ""}/.cache`;
  const bin = `${Deno.env.get("SALT_INTEROP_VENVS") || `${cache}/salt-interop`}/${version}/bin`;
  try {
    Deno.statSync(`${bin}/salt-master`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  return {
    name: `Python Salt ${version}`,
    command: (program: Program) => [`${bin}/${program}`],
    python: `${bin}/python`,
  };
}
