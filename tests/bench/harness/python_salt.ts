/**
 * Finds the installed Python Salts for the comparison: the virtual environments that the interop tests make.
 *
 * `SALT_INTEROP_VENVS` names the directory that contains one for each version; by default they are in the user's cache
 * directory.
 * @module
 */

import type { Program, Side } from "./sides.ts";

/** The versions of the comparison: the newest, and an older one that is faster in some rows. */
export const PYTHON_SALTS = ["3008.3", "3006.28"] as const;

export type PythonVersion = typeof PYTHON_SALTS[number];

/** The default version of the comparison. */
export const NEWEST_PYTHON: readonly PythonVersion[] = ["3008.3"];

/** Python Salt of a version; `undefined` if it is not installed. */
export function findPythonSalt(version: PythonVersion): Side | undefined {
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
