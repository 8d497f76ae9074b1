/**
 * The functions of the modules `pkg` that all package managers have alike: each module gives what differs, and gets the
 * functions with their parameters and their documentation. Source: Salt 3008.3,
 * `salt/modules/{aptpkg,yumpkg,zypperpkg,pacmanpkg}.py`; Salt 3006, `salt/modules/apkpkg.py`.
 * @module
 */

import { asVersions, type PackageVersions, showVersions } from "#lib/host/packages/package_list.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { ProgramResult } from "#lib/programs/run_program.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Reads the installed packages.
 * @param kwargs The function's other keywords: `root`.
 */
export type ListInstalled = (context: JobContext, kwargs: ValueMap) => Promise<PackageVersions>;

/** `pkg.version`. */
export function versionFunction(
  list: ListInstalled,
  { watchedKeywords, missing = "an empty string" }: {
    readonly watchedKeywords?: readonly string[];
    /** What is returned of a package that is not installed, and without names. */
    readonly missing?: "an empty string" | "an empty map";
  } = {},
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Return the installed version of a package, ${missing} if it is not installed; for several packages or a glob, a map.`,
      "pkg.version <package name>",
      "pkg.version <package1> <package2> <package3> ...",
    ),
    permissions: "all",
    params: {},
    varArgs: "names",
    varKwargs: "kwargs",
    ...watchedKeywords && { watchedKeywords },
    async run(_bound, context, { args, kwargs }) {
      const packages: PackageVersions = args.length === 0 ? new Map() : await list(context, kwargs);
      const versions = showVersions(packages, args.map(str), isTrue(kwargs.get("versions_as_list")));
      return missing === "an empty map" && !truthy(versions) ? {} : versions;
    },
  });
}

/**
 * `pkg.list_pkgs` without parameters of its own.
 * @param examples What follows the text: its words on `root`, and the calls.
 */
export function listFunction(
  list: ListInstalled,
  { more = "", examples }: { readonly more?: string; readonly examples: readonly [string, ...string[]] },
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Return the installed packages with their versions, as text or with versions_as_list=True as lists.${more}`,
      ...examples,
    ),
    permissions: "all",
    params: { versions_as_list: p.bool(false) },
    varKwargs: "kwargs",
    async run({ versions_as_list }, context, { kwargs }) {
      if (isTrue(kwargs.get("removed")) || isTrue(kwargs.get("purge_desired"))) return {};
      return asVersions(await list(context, kwargs), versions_as_list);
    },
  });
}

/** `pkg.available_version`, Salt's other name of `pkg.latest_version`. */
export function availableVersion(latest: ModuleFunction<JobContext>): ModuleFunction<JobContext> {
  return { ...latest, doc: describe("The same as pkg.latest_version.", "pkg.available_version <package name>") };
}

/**
 * `pkg.upgrade_available`.
 * @param latest The version that an upgrade would bring; an empty one if there is none.
 */
export function upgradeAvailable(
  latest: (name: string, context: JobContext, kwargs: ValueMap) => Promise<Value>,
): ModuleFunction<JobContext> {
  return fn({
    doc: describe("Return whether a package has a newer version.", "pkg.upgrade_available <package name>"),
    permissions: "all",
    params: { name: p.str() },
    varKwargs: "kwargs",
    run: async ({ name }, context, { kwargs }) => truthy(await latest(name, context, kwargs)),
  });
}

/** What `pkg.remove` and `pkg.purge` are given. */
export interface Removal {
  readonly name: string | null;
  readonly pkgs: Value;
}

/**
 * `pkg.remove` or `pkg.purge`.
 * @param doc What it does.
 */
export function removeFunction(
  action: "remove" | "purge",
  doc: string,
  { watchedKeywords, remove }: {
    readonly watchedKeywords?: readonly string[];
    remove(removal: Removal, context: JobContext, kwargs: ValueMap): Promise<ValueMap | Record<string, never>>;
  },
): ModuleFunction<JobContext> {
  return fn({
    doc: removalDoc(action, doc),
    permissions: "all",
    params: { name: p.str(null), pkgs: p.any(null) },
    varKwargs: "kwargs",
    ...watchedKeywords && { watchedKeywords },
    run: (removal, context, { kwargs }) => remove(removal, context, kwargs),
  });
}

/** The documentation of `pkg.remove` and `pkg.purge`. */
export function removalDoc(action: "remove" | "purge", doc: string): string {
  return describe(
    doc,
    `pkg.${action} <package name>`,
    `pkg.${action} <package1>,<package2>,<package3>`,
    `pkg.${action} pkgs='["foo", "bar"]'`,
  );
}

/** What a package manager that failed says on its standard error, for a list of errors. */
export function errorsOf({ retcode, stderr }: ProgramResult): string[] {
  return retcode !== 0 && stderr !== "" ? [stderr] : [];
}
