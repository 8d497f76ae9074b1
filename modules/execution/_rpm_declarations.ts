/**
 * Shared by the modules of package managers with rpm: declarations of functions over names, and their hosts.
 * @module
 */

import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import type { ModuleFunction, Rest } from "#lib/plugins/module.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

/** Systems with rpm of another family than RedHat's and Suse's, by the grain `os`. */
export const OTHER_SYSTEMS = [
  "Amazon",
  "XCP",
  "XenServer",
  "VirtuozzoLinux",
  "Virtuozzo",
  "Issabel PBX",
  "openEuler",
  "VMware Photon OS",
];

/** A function over any number of names. */
export function ofNames(
  doc: string,
  run: (given: readonly string[], kwargs: ValueMap, context: JobContext) => unknown,
  more: { readonly varArgs?: string; readonly varKwargs?: string } = {},
): ModuleFunction<JobContext> {
  return fn({
    doc,
    permissions: "all",
    params: {},
    varArgs: "packages",
    varKwargs: "kwargs",
    ...more,
    run: (_bound, context, { args, kwargs }: Rest) => run(args.map(str), ownKeywords(kwargs), context),
  });
}
