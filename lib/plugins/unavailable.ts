/**
 * What can be said of a function that no module has: by execution modules and runners alike.
 * @module
 */

import { UnavailableError } from "../errors.ts";
import { collectDocs, type Documented } from "./docs.ts";
import { nearestName } from "../text/nearest_name.ts";
import type { ValueMap } from "../values/value.ts";

/** A family of modules, as far as this asks it. */
export interface Searched {
  /** Every function. */
  all(): Promise<readonly Documented[]>;
  /** The modules that could not be loaded, and why. */
  problems(): ReadonlyMap<string, string>;
}

/** What there is instead of a function. */
export interface Unavailable {
  /** Says that it is not there, and what was probably meant if nothing below says more. */
  readonly error: UnavailableError;
  /** The documentation of those whose names begin like it: half a name is a question. */
  readonly docs: ValueMap;
  /** Why its module could not be loaded; `undefined` if that is not it. */
  readonly problem: string | undefined;
}

/** Looks in `family` for what stands near `name`. */
export async function explainUnavailable(name: string, family: Searched): Promise<Unavailable> {
  const all = await family.all();
  const docs = collectDocs(all, [`${name}*`]);
  const problem = family.problems().get(name.split(".", 1)[0]);
  const hint = docs.size === 0 && problem === undefined;
  const error = new UnavailableError(name, hint ? nearestName(name, all.map((one) => one.name)) : undefined);
  return { error, docs, problem };
}
