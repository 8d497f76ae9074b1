/**
 * The names of returners in options and loads.
 * @module
 */

import { str, type Value } from "#lib/values/value.ts";

/** The name of a module: it is a part of paths. */
const NAME = /^[A-Za-z_]\w{0,63}$/;

/**
 * The returners that these name, each once: texts with commas between the names, or lists of them.
 * @returns `refused`: what cannot be the name of one.
 */
export function returnerNames(
  ...given: readonly (Value | undefined)[]
): { readonly names: readonly string[]; readonly refused: readonly string[] } {
  const all = new Set(
    given.flatMap((value) => Array.isArray(value) ? value.map(str) : typeof value === "string" ? [value] : [])
      .flatMap((names) => names.split(","))
      .map((name) => name.trim()).filter((name) => name !== ""),
  );
  return {
    names: [...all].filter((name) => NAME.test(name)),
    refused: [...all].filter((name) => !NAME.test(name)),
  };
}
