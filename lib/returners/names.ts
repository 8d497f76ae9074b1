/**
 * The names of returners in options and loads.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { str, type Value } from "#lib/values/value.ts";

/** The name of a module: it is a part of paths. */
const NAME = /^[A-Za-z_]\w{0,63}$/;

/** A name for all returners that the option of this name lists. */
const MULTI_RETURNER = "multi_returner";

/** The names that texts and lists of them give. */
export interface ReturnerNames {
  readonly names: readonly string[];
  /** What cannot be the name of a returner. */
  readonly refused: readonly string[];
}

/**
 * As {@linkcode returnerNames}, with the returners of the option `multi_returner` in place of that name.
 * Source: Salt 3008.3 `salt/returners/multi_returner.py`.
 */
export function configuredReturners(
  opts: MasterOpts | MinionOpts,
  ...given: readonly (Value | undefined)[]
): ReturnerNames {
  const all = returnerNames(...given);
  if (!all.names.includes(MULTI_RETURNER)) return all;
  const many = returnerNames(optsValues(opts).get(MULTI_RETURNER));
  const listed = many.names.filter((name) => name !== MULTI_RETURNER);
  return {
    names: [...new Set(all.names.flatMap((name) => name === MULTI_RETURNER ? listed : [name]))],
    refused: [...all.refused, ...many.refused, ...listed.length === 0 ? [MULTI_RETURNER] : []],
  };
}

/** The returners that these name, each once: texts with commas between the names, or lists of them. */
export function returnerNames(...given: readonly (Value | undefined)[]): ReturnerNames {
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
