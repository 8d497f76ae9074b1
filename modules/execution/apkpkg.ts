/**
 * Execution module `pkg` for Alpine.
 * Source: the functions of Salt 3006 `salt/modules/apkpkg.py`, which Salt 3008 has given away.
 * @module
 */

import { packageName } from "./_package_names.ts";
import { errorsOf, listFunction, versionFunction } from "./_pkg_functions.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { CommandError } from "#lib/errors.ts";
import { parseApkInstalled, parseApkUpgrades, splitPackage } from "#lib/host/packages/apk_output.ts";
import { changeFailure, changePackages, changesBetween } from "#lib/host/packages/changes.ts";
import { type PackageVersions, versionTexts } from "#lib/host/packages/package_list.ts";
import { noteRefresh } from "#lib/host/packages/refresh_tag.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "pkg",
  serves: [{
    grains: { os_family: ["Alpine"] },
    otherwise: "Module apk only works on Alpine Linux based systems",
  }],
};

const NAMES = { permissions: "all", params: {}, varKwargs: "kwargs" } as const;

function apk(words: readonly string[], context: JobContext, joined = false): Promise<ProgramResult> {
  return runProgram(["apk", ...words], context, { setsRetcode: true, joined });
}

async function listInstalled(context: JobContext): Promise<PackageVersions> {
  return parseApkInstalled((await apk(["info", "-v"], context, true)).stdout);
}

async function refresh(context: JobContext): Promise<boolean> {
  noteRefresh(context.opts);
  const { retcode, stdout } = await apk(["update"], context);
  if (retcode === 0) return true;
  throw changeFailure("Problem encountered installing package(s)", { errors: [stdout], changes: false });
}

/** The names in name, and those of pkgs: names, or maps from a name to a version. */
function packageNames(name: string | null, pkgs: Value): string[] {
  const names = [
    ...name ? name.split(",") : [],
    ...listOrEmpty(pkgs).map(packageName),
  ];
  return names.map((one) => checkedWord(one, "package name"));
}

export const version: ModuleFunction<JobContext> = versionFunction(listInstalled);

export const refresh_db: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe("Update the package lists of the repositories. Return True.", "pkg.refresh_db"),
  run: (_bound, context) => refresh(context),
});

export const list_pkgs: ModuleFunction<JobContext> = listFunction(listInstalled, {
  examples: ["pkg.list_pkgs", "pkg.list_pkgs versions_as_list=True"],
});

export const latest_version: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the version of a package that an installation or upgrade would bring, and an empty string if the newest is\n" +
      "installed or there is none; for several packages, a map.",
    "pkg.latest_version <package name>",
    "pkg.latest_version <package1> <package2> <package3> ...",
  ),
  varArgs: "names",
  async run(_bound, context, { args, kwargs }) {
    const names = args.map((one) => checkedWord(str(one), "package name"));
    if (names.length === 0) return "";
    const before = await versionTexts(listInstalled(context));
    if (isTrue(kwargs.get("refresh") ?? true)) await refresh(context);
    const upgrades = parseApkUpgrades((await apk(["upgrade", "-s"], context)).stdout);
    const latest: ValueMap = new Map();
    for (const name of names) {
      latest.set(name, upgrades.get(name) ?? await latestOffer(name, before.get(name), context));
    }
    return names.length === 1 ? latest.get(names[0]) : latest;
  },
});

/** The version that the repositories have of a package, an empty string if that is installed. */
async function latestOffer(name: string, before: Value | undefined, context: JobContext): Promise<string> {
  const offers = splitLines((await apk(["search", name], context)).stdout).map(splitPackage);
  const version = offers.filter(([one]) => one === name).at(-1)?.[1] ?? "";
  return version === before ? "" : version;
}

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install packages: name, or pkgs (a list of names, and of maps from a name to a version, which is ignored). Return of\n" +
      "each package that changed its old and its new version.",
    "pkg.install <package name>",
    `pkg.install pkgs='["foo", "bar"]'`,
  ),
  permissions: "all",
  params: { name: p.str(null), refresh: p.bool(false), pkgs: p.any(null), sources: p.any(null) },
  varKwargs: "kwargs",
  async run({ name, pkgs, sources, refresh: refreshes }, context) {
    const isAlone = (pkgs === null || pkgs === "") && (sources === null || sources === "");
    const names = packageNames(isAlone ? name : null, pkgs);
    if (names.length === 0) return {};
    return await changePackages({
      list: () => versionTexts(listInstalled(context)),
      async run(before) {
        if (refreshes) await refresh(context);
        const upgrade = names.some((one) => before.has(one)) ? ["-u"] : [];
        return errorsOf(await apk(["add", ...upgrade, ...names], context));
      },
      failure: "Problem encountered installing package(s)",
    });
  },
});

function uninstall(names: readonly string[], purge: boolean, context: JobContext): Promise<ValueMap> {
  return changePackages({
    list: () => versionTexts(listInstalled(context)),
    run: async () =>
      names.length === 0 ? [] : errorsOf(await apk(["del", ...purge ? ["--purge"] : [], ...names], context)),
    failure: "Problem encountered removing package(s)",
  });
}

const REMOVE = { name: p.str(null), pkgs: p.any(null) };

export const remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove packages. Return the old and the new version of each package that changed.",
    "pkg.remove <package name>",
    "pkg.remove <package1>,<package2>,<package3>",
    `pkg.remove pkgs='["foo", "bar"]'`,
  ),
  permissions: "all",
  params: { ...REMOVE, purge: p.bool(false) },
  varKwargs: "kwargs",
  run: ({ name, pkgs, purge }, context) => uninstall(packageNames(name, pkgs), purge, context),
});

export const purge: ModuleFunction<JobContext> = fn({
  doc: describe("Remove packages with their configuration.", "pkg.purge <package name>"),
  permissions: "all",
  params: REMOVE,
  varKwargs: "kwargs",
  run: ({ name, pkgs }, context) => uninstall(packageNames(name, pkgs), true, context),
});

export const upgrade: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Upgrade the named packages, or all packages. Return a map: `result`, `changes` with the old and new versions, `comment` with what\n" +
      "apk says of a failure.",
    "pkg.upgrade",
  ),
  permissions: "all",
  params: { name: p.str(null), pkgs: p.any(null), refresh: p.bool(true) },
  varKwargs: "kwargs",
  async run({ name, pkgs, refresh: refreshes }, context) {
    if (refreshes) await refresh(context);
    const names = packageNames(pkgs === null ? name : null, pkgs);
    const before = await versionTexts(listInstalled(context));
    const words = names.length === 0 ? ["upgrade"] : ["add", "-u", ...names];
    const { retcode, stdout } = await apk(words, context, true);
    const changes = changesBetween(before, await versionTexts(listInstalled(context)));
    return { changes, result: retcode === 0, comment: retcode === 0 ? "" : stdout };
  },
});

export const list_upgrades: ModuleFunction<JobContext> = fn({
  doc: describe("Return the packages that an upgrade would bring, with their new versions.", "pkg.list_upgrades"),
  permissions: "all",
  params: { refresh: p.bool(true) },
  varKwargs: "kwargs",
  async run({ refresh: refreshes }, context) {
    if (refreshes) await refresh(context);
    const { retcode, stdout, stderr } = await apk(["upgrade", "-s"], context);
    if (retcode !== 0) throw new CommandError(stderr + stdout);
    return parseApkUpgrades(stdout);
  },
});

async function files(names: readonly string[], context: JobContext): Promise<Value> {
  if (names.length === 0) return "Package name should be provided";
  const packages: ValueMap = new Map();
  for (const name of names) {
    const { stdout } = await apk(["info", "-L", checkedWord(name, "package name")], context);
    const paths = splitLines(stdout).filter((line) => !line.endsWith("contains:"));
    if (paths.length > 0) packages.set(name, paths);
  }
  return new Map<Value, Value>([["errors", []], ["packages", packages]]);
}

export const file_list: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe("The same as pkg.file_dict.", "pkg.file_list httpd"),
  varArgs: "packages",
  run: (_bound, context, { args }) => files(args.map(str), context),
});

export const file_dict: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe("Return the files of packages, by package.", "pkg.file_dict httpd", "pkg.file_dict httpd postfix"),
  varArgs: "packages",
  run: (_bound, context, { args }) => files(args.map(str), context),
});

export const owner: ModuleFunction<JobContext> = fn({
  ...NAMES,
  doc: describe(
    "Return the packages that files belong to, by file.",
    "pkg.owner /usr/bin/apachectl",
    "pkg.owner /usr/bin/apachectl /usr/bin/basename",
  ),
  varArgs: "paths",
  async run(_bound, context, { args }) {
    if (args.length === 0) return "You must provide a path";
    const owners: ValueMap = new Map();
    for (const path of args.map(str)) {
      const { stdout } = await apk(["info", "-W", checkedWord(path, "path")], context);
      const name = stdout.split("by ")[1]?.trim();
      const failed = stdout === ""
        ? `Error running ${repr(["apk", "info", "-W", path])}`
        : "Could not find owner package";
      owners.set(path, stdout.includes("ERROR:") || name === undefined ? failed : name);
    }
    return owners;
  },
});
