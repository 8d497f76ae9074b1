/**
 * The answer for a function that does not exist; for execution modules and runners.
 * @module
 */

import { UnavailableError } from "../errors.ts";
import { collectDocs, type Documented } from "./docs.ts";
import { nearestName } from "../text/nearest_name.ts";
import type { ValueMap } from "../values/value.ts";

/** The methods of a family of modules that are needed here. */
export interface Searched {
  all(): Promise<readonly Documented[]>;
  /** The modules that could not be loaded, with the reason. */
  problems(): ReadonlyMap<string, string>;
  /** The modules that do not serve this host, with the reason. */
  refusals(): ReadonlyMap<string, string>;
}

/** What can be said of the missing function. */
export interface Unavailable {
  /** Says that the function does not exist, and suggests one if nothing below says more. */
  readonly error: UnavailableError;
  /** The documentation of functions whose names begin with the given name. */
  readonly docs: ValueMap;
  /** Why its module could not be loaded; `undefined` if that is not the reason. */
  readonly problem: string | undefined;
}

/** Searches `family` for functions similar to `name`. */
export async function explainUnavailable(name: string, family: Searched): Promise<Unavailable> {
  const all = await family.all();
  const docs = collectDocs(all, [`${name}*`]);
  const module = name.split(".", 1)[0];
  const [problem, refusal] = [family.problems().get(module), family.refusals().get(module)];
  const hint = docs.size === 0 && problem === undefined;
  const meant = hint ? nearestName(name, all.map((one) => one.name)) : undefined;
  const error = new UnavailableError(name, meant, refusal);
  return { error, docs, problem };
}
