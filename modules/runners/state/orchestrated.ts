/**
 * The arguments that the functions of the runner `state` have in common: SLS files of the master's own host, and
 * pillar. Source: Salt 3008.3 `salt/runners/state.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { yamlMistake } from "#lib/states/tree/settings.ts";
import { p } from "#lib/plugins/module.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Whose files and pillar these are. */
export const OF_MASTER = "The files and pillar are those of the master's own host, whose id ends in `_master`.";

/** The documentation of the arguments that all of them have. */
export const ASKED = `

pillar, pillar_enc
    Pillar data that win over the others, as a dictionary; with \`pillar_enc\` encrypted by the renderer of that name.

pillarenv
    The environment of pillar.`;

/** The documentation of the arguments of functions of SLS files. */
export const OF_SLS = `${ASKED}

saltenv : base
    The environment of the files.

test
    Test mode, as the templates see it.`;

/** The parameters that {@linkcode ASKED} tells of. */
export const PILLAR_PARAMS = { pillar: p.any(null), pillarenv: p.str(null), pillar_enc: p.str(null) };
/** The parameters that {@linkcode OF_SLS} tells of besides. */
export const SLS_PARAMS = { saltenv: p.any("base"), test: p.any(null) };

/**
 * The keyword arguments of an execution function of that name: those that were given.
 * @throws {InvocationError}
 */
export function givenKeywords({ pillar, ...others }: Readonly<Record<string, Value>>): ValueMap {
  if (pillar !== null && !isMap(pillar) && (others.pillar_enc ?? null) === null) {
    const mistake = yamlMistake(pillar);
    throw new InvocationError(`Pillar data must be formatted as a dictionary${mistake && `.${mistake}`}`);
  }
  return new Map(Object.entries({ pillar, ...others }).filter(([, value]) => value !== null));
}
