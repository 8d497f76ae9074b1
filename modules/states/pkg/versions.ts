/**
 * Versions in the states of packages: conditions such as `>=1.2, <2`, and whether an installed version meets them.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { hasFunction, keywords } from "#modules/states/_execution.ts";
import { accepts, splitComparison } from "#lib/host/packages/version_match.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { toNumber } from "#lib/values/value.ts";

/** Names with the version that is wanted; `null`: any. */
export type WantedPackages = ReadonlyMap<string, string | null>;

/** One condition: `>=` and `1.2`. */
interface VersionCondition {
  readonly operator: string;
  readonly version: string;
}

function parseConditions(wanted: string): VersionCondition[] {
  if (wanted.trim() === "") return [];
  return wanted.split(",").map((condition) => {
    const [operator, version] = splitComparison(condition.trim());
    return { operator: operator === "" || operator === "=" ? "==" : operator, version };
  });
}

/** Whether a version condition requires exactly one version. */
export function wantsExactly(wanted: string): boolean {
  return parseConditions(wanted).some(({ operator }) => operator === "==");
}

/** How versions are compared. */
export interface ComparisonOptions {
  /** Ignores the epoch (before the colon). `null`: if the requested version has no epoch and must be equal. */
  readonly ignoreEpoch: boolean | null;
  /** Whether a newer version is accepted too. */
  readonly allowUpdates?: boolean;
}

/** Whether one of the installed versions meets all conditions. */
export async function fulfillsConditions(
  installed: readonly string[],
  wanted: string,
  { ignoreEpoch, allowUpdates = false }: ComparisonOptions,
  context: StateContext,
): Promise<boolean> {
  const conditions = parseConditions(wanted);
  for (const version of installed) {
    let meets = true;
    for (const condition of conditions) {
      const relaxed = allowUpdates && conditions.length === 1 && condition.operator === "==";
      const operator = relaxed ? ">=" : condition.operator;
      meets &&= await isMet(version, { ...condition, operator }, ignoreEpoch, context);
    }
    if (meets) return true;
  }
  return false;
}

async function isMet(
  installed: string,
  { operator, version }: VersionCondition,
  ignoreEpoch: boolean | null,
  context: StateContext,
): Promise<boolean> {
  if (operator === "==" && compileGlob(version)(installed)) return true;
  if (!await hasFunction("pkg.version_cmp", context)) {
    return accepts(operator, compareLooseVersions(installed, version));
  }
  const ignore_epoch = ignoreEpoch ?? (!/[<>]/.test(operator) && !version.includes(":"));
  const order = toNumber(await context.call("pkg.version_cmp", [installed, version], keywords({ ignore_epoch })));
  return order !== undefined && accepts(operator, order);
}

/** A package with its wanted version, for comments: `vim=2:9.1`, `vim>=2:9`, `vim`. */
export function shownPackage(name: string, wanted: WantedPackages): string {
  const version = wanted.get(name) ?? "";
  return name + (version === "" || /^[<>=]/.test(version) ? "" : "=") + version;
}
