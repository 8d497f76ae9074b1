/**
 * Python Salt to compare with, where it is installed: the virtual environments of the interop tests, which make them.
 *
 * `SALT_INTEROP_VENVS` names the directory that holds one for each version; without it they are in the user's cache.
 * @module
 */

import type { Program, Side } from "./sides.ts";

/** The versions that are worth a comparison: the newest, and one that does some things faster. */
export const PYTHON_SALTS = ["3008.3", "3006.28"] as const;

/** One of them. */
export type PythonVersion = typeof PYTHON_SALTS[number];

/** What every row is compared with that does not say otherwise. */
export const NEWEST_PYTHON: readonly PythonVersion[] = ["3008.3"];

/** Python Salt of a version; `undefined` where it is not installed. */
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
