/**
 * The packages that the states of a run will ask apt for: one call for all of them is nearly as quick as one for the
 * first.
 * @module
 */

import type { PackageVersions } from "#lib/host/packages/package_list.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";

/** Maximum number of packages in a call, so that the command line does not become too long. */
const MAX_NAMES = 1_000;

/** Valid names of packages, in any letter case; apt treats others as patterns. Source: deb-control(5), `Package`. */
const NAME = /^[a-z0-9][a-z0-9+.-]+$/i;

/** The packages of `pkg.installed` that are not installed, and those of `pkg.latest`. */
export function packagesOfStates({ chunks = [] }: JobContext, installed: PackageVersions): string[] {
  const names = new Set<string>();
  for (const chunk of chunks) {
    if (names.size >= MAX_NAMES) break;
    if (chunk.get("state") !== "pkg" || chunk.has("sources")) continue;
    const fun = chunk.get("fun");
    if (fun !== "installed" && fun !== "latest") continue;
    for (const name of packagesOf(chunk)) {
      if (NAME.test(name) && (fun === "latest" || !installed.has(name))) names.add(name);
    }
  }
  return [...names].slice(0, MAX_NAMES);
}

function packagesOf(chunk: ValueMap): string[] {
  const pkgs = chunk.get("pkgs") ?? null;
  const list = Array.isArray(pkgs) ? pkgs : pkgs === null ? [chunk.get("name") ?? ""] : [pkgs];
  return list.flatMap((one) => isMap(one) ? [...one.keys()] : [one]).map(str);
}
