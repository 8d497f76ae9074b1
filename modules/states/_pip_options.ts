/**
 * Options that only some versions of pip have.
 * Source: Salt 3008.3 `salt/states/pip_state.py`, `salt/states/virtualenv_mod.py`.
 * @module
 */

import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { truthy, type Value } from "#lib/values/value.ts";

/** Why this version of pip cannot be run with these options, in Salt's words. */
export function wheelRefusal(
  given: { readonly use_wheel: Value; readonly no_use_wheel: Value; readonly no_binary: Value },
  version: string,
): string | undefined {
  const isOf = (min: string, max?: string) =>
    compareLooseVersions(version, min) >= 0 && (max === undefined || compareLooseVersions(version, max) <= 0);
  for (const option of ["use_wheel", "no_use_wheel"] as const) {
    if (truthy(given[option]) && !isOf("1.4", "9.0.3")) {
      return `The '${option}' option is only supported in pip between 1.4 and 9.0.3. The version of pip detected was ${version}.`;
    }
  }
  if (truthy(given.no_binary) && !isOf("7.0.0")) {
    return `The 'no_binary' option is only supported in pip 7.0.0 and newer. The version of pip detected was ${version}.`;
  }
  return undefined;
}
