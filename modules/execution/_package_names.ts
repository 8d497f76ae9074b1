/**
 * Shared by the modules `pkg` of all package managers: the packages in a function's arguments.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { asList } from "#lib/values/shape.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { isMap, str, truthy, type Value } from "#lib/values/value.ts";

/**
 * The names that `hold` and its like are given.
 * @throws {InvocationError} If it is none, or both lists.
 */
export function namedPackages(
  { name, pkgs, sources }: { readonly name: string | null; readonly pkgs: Value; readonly sources: Value },
): string[] {
  if (!name && !truthy(pkgs) && !truthy(sources)) {
    throw new InvocationError("One of name, pkgs, or sources must be specified.");
  }
  if (truthy(pkgs) && truthy(sources)) throw new InvocationError("Only one of pkgs or sources can be specified.");
  const given = truthy(pkgs) ? pkgs : truthy(sources) ? sources : name;
  const list = typeof given === "string" && given.startsWith("[") ? loadYaml(given) : given;
  return asList(list).map(packageName);
}

/** The name of a package that is given by its name, or by a map from the name to a version. */
export function packageName(one: Value): string {
  return str(isMap(one) ? [...one.keys()][0] ?? "" : one);
}
