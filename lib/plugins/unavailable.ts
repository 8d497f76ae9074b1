/**
 * The answer for a function that does not exist; for execution modules and runners.
 * @module
 */

import { UnavailableError } from "#lib/errors.ts";
import { collectDocs, type Documented, moduleOfFunction } from "./docs.ts";
import { editDistance, nearestName } from "#lib/text/nearest_name.ts";
import { truncateList } from "#lib/text/truncate.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The methods of a family of modules that are needed here. */
export interface Searched {
  all(): Promise<readonly Documented[]>;
  /** The modules that could not be loaded, with the reason. */
  problems(): ReadonlyMap<string, string>;
  /** The modules that do not serve this host, with the reason. */
  refusals(): ReadonlyMap<string, string>;
  /** State functions, which one may have meant to call as if they were of this family. */
  readonly states?: { all(): Promise<readonly { readonly name: string }[]> };
}

/** The description of a missing function. */
export interface Unavailable {
  /** A text that the function does not exist, with a suggestion if the fields below are empty. */
  readonly error: UnavailableError;
  /**
   * The documentation of the functions of modules whose names begin with the given one. Empty for a name with a dot.
   */
  readonly docs: ValueMap;
  /** The reason why its module could not be loaded; `undefined` if that is not the cause. */
  readonly problem: string | undefined;
}

/** The families of modules with a list of Salt's functions. */
export type SaltFamily = "execution" | "runner";

/**
 * Searches `family` for functions similar to `name`.
 * @param kind Which of Salt's functions may be missing; `undefined` if all of the family's are there.
 */
export async function explainUnavailable(
  name: string,
  family: Searched,
  kind: SaltFamily | undefined,
): Promise<Unavailable> {
  const all = await family.all();
  // A function of Salt that is not built is reported as such, even if names of other functions begin with its name.
  const planned = kind !== undefined && await isSaltFunction(name, kind);
  const docs = planned || /\../.test(name) ? new Map<Value, Value>() : collectDocs(all, [`${name}*`]);
  const module = moduleOfFunction(name);
  const [problem, refusal] = [family.problems().get(module), family.refusals().get(module)];
  const describe = (
    why: { nearest?: string; state?: string; planned?: boolean; instead?: string; refusal?: string },
  ): Unavailable => ({
    error: new UnavailableError(name, why),
    docs,
    problem,
  });
  if (docs.size > 0 || problem !== undefined || refusal !== undefined) return describe({ refusal });
  if (planned) return describe({ planned: true, instead: INSTEAD[module] });
  const names = all.map((one) => one.name);
  const nearest = nearestName(name, names);
  const states = await family.states?.all() ?? [];
  const state = nearestName(name, states.map((one) => one.name).filter((one) => !/\.mod_/.test(one)));
  const isState = state !== undefined &&
    (nearest === undefined || editDistance(name, state) < editDistance(name, nearest));
  if (isState) return describe({ state });
  // Of several letters that are missing at the end, all belong to the same word.
  const isNear = nearest !== undefined && editDistance(name, nearest) <= 2;
  return describe({ nearest: (isNear ? undefined : beginningWith(name, names)) ?? nearest });
}

/** Modules of Salt that are not built, with those that do their work. */
const INSTEAD: Readonly<Record<string, string | undefined>> = { tls: "x509" };

/** The functions whose names begin with `name`, which has a dot: `pkg.install, pkg.install_all`. */
function beginningWith(name: string, names: readonly string[]): string | undefined {
  const those = /\../.test(name) ? names.filter((one) => one.startsWith(name)) : [];
  return those.length === 0 ? undefined : truncateList(those);
}

async function isSaltFunction(name: string, kind: SaltFamily): Promise<boolean> {
  const { SALT_EXECUTION_FUNCTIONS, SALT_RUNNER_FUNCTIONS } = await import("./salt_functions.ts");
  const table = kind === "execution" ? SALT_EXECUTION_FUNCTIONS : SALT_RUNNER_FUNCTIONS;
  const [module, ...rest] = name.split(".");
  const line = table.split("\n").find((one) => one.startsWith(`${module} `));
  return rest.length === 1 && line !== undefined && line.split(" ").slice(1).includes(rest[0]);
}
