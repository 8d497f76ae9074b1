/**
 * Execution module `pkg` for hosts with yum, dnf or dnf5: what is installed, and what changes that. Its other functions
 * are in `queries.ts` and `groups.ts`. Source: the functions of Salt 3008.3 `salt/modules/yumpkg.py`.
 * @module
 */

import {
  availableVersion,
  removeFunction,
  upgradeAvailable,
  versionFunction,
} from "#modules/execution/_pkg_functions.ts";
import { OTHER_SYSTEMS } from "#modules/execution/_rpm_declarations.ts";
import { namedPackages } from "#modules/execution/_package_names.ts";
import { parseTargets } from "#lib/host/packages/package_targets.ts";
import { formatRpms, installedRpms, ownArchitecture } from "#lib/host/packages/rpm.ts";
import { splitArchitecture, withoutHostArchitecture } from "#lib/host/packages/rpm_architectures.ts";
import { rpmOrder } from "#lib/host/packages/rpm_version.ts";
import {
  heldPackages,
  isDnf,
  latestYumVersions,
  refreshYum,
  requireVersionlock,
  yumOptions,
  yumProgram,
} from "#lib/host/packages/yum.ts";
import { holdPackages, unholdPackages } from "#lib/host/packages/yum_holds.ts";
import * as yum from "#lib/host/packages/yum_install.ts";
import { HOLD_PATTERN } from "#lib/host/packages/yum_output.ts";
import { downloadedPackages } from "#lib/host/packages/rpm_files.ts";
import { availableVersions, patches } from "#lib/host/packages/yum_queries.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { CHANGE_KEYWORDS, PACKAGE_KEYWORDS } from "#modules/execution/_pkg_keywords.ts";

export const virtual: Virtual = {
  name: "pkg",
  serves: [
    {
      grains: [{ os_family: ["RedHat"] }, { os: OTHER_SYSTEMS }],
      otherwise: "Module yumpkg: no yum based system detected",
    },
    { programs: ["dnf5", "dnf", "tdnf", "yum"], otherwise: "DNF nor YUM found" },
  ],
};

export const normalize_name: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a package's name without its architecture, if that is the host's own.",
    "pkg.normalize_name zsh.x86_64",
  ),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }, context) => withoutHostArchitecture(name, ownArchitecture(context)),
});

export const parse_arch: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name and the architecture of a package's name, as a map.", "pkg.parse_arch zsh.x86_64"),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }) => splitArchitecture(name),
});

async function latest(names: readonly string[], kwargs: ValueMap, context: JobContext): Promise<Value> {
  if (names.length === 0) return "";
  const rest = new Map([...kwargs].filter(([key]) => key !== "refresh"));
  const options = yumOptions(rest);
  if (isTrue(kwargs.get("refresh") ?? true)) await refreshYum(rest, context);
  return await latestYumVersions(names, options, context);
}

export const latest_version: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the version of a package that an installation or upgrade would bring, and an empty string if the newest is\n" +
      "installed or there is none; for several packages, a map. refresh=False does not ask the repositories first. More\n" +
      "keywords: fromrepo, enablerepo, disablerepo, disableexcludes, branch, setopt.",
    "pkg.latest_version <package name>",
    "pkg.latest_version <package name> fromrepo=epel-testing",
    "pkg.latest_version <package1> <package2> <package3> ...",
  ),
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  run: (_bound, context, { args, kwargs }) => latest(args.map(str), kwargs, context),
});

export const available_version: ModuleFunction<JobContext> = availableVersion(latest_version);

export const upgrade_available: ModuleFunction<JobContext> = upgradeAvailable((name, context, kwargs) =>
  latest([name], kwargs, context)
);

export const version: ModuleFunction<JobContext> = versionFunction(
  async (context) =>
    new Map([...await installedRpms(context)].map(([name, all]) => [name, all.map((one) => one.version)])),
  { watchedKeywords: PACKAGE_KEYWORDS },
);

export const version_cmp: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Compare two versions: -1 if the first is older, 0 if they are equal, 1 if it is newer. ignore_epoch=True leaves out what\n" +
      "is before a colon.",
    "pkg.version_cmp '0.2-001' '0.2.0.1-002'",
  ),
  permissions: "all",
  params: { pkg1: p.str(), pkg2: p.str(), ignore_epoch: p.bool(false) },
  varKwargs: "kwargs",
  run: ({ pkg1, pkg2, ignore_epoch }) => rpmOrder(ignore_epoch)(pkg1, pkg2),
});

export const list_pkgs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed packages with their versions, as text or with versions_as_list=True as lists. attr: attributes of\n" +
      "each version in place of it: epoch, version, release, arch, install_date, install_date_time_t, or all.",
    "pkg.list_pkgs",
    "pkg.list_pkgs attr=version,arch",
    'pkg.list_pkgs attr=\'["version", "arch"]\'',
  ),
  permissions: "all",
  params: { versions_as_list: p.bool(false) },
  varKwargs: "kwargs",
  async run({ versions_as_list }, context, { kwargs }) {
    if (isTrue(kwargs.get("removed")) || isTrue(kwargs.get("purge_desired"))) return {};
    return formatRpms(await installedRpms(context), { asList: versions_as_list, attr: kwargs.get("attr") });
  },
});

const REFRESH = { permissions: "all", params: {}, varKwargs: "kwargs" } as const;

export const refresh_db: ModuleFunction<JobContext> = fn({
  ...REFRESH,
  doc: describe(
    "Ask the repositories anew. Return True if there are updates, None if there are none, False if they cannot be asked.\n" +
      "check_update=False only clears the cache.",
    "pkg.refresh_db",
  ),
  run: (_bound, context, { kwargs }) => refreshYum(kwargs, context),
});

export const clean_metadata: ModuleFunction<JobContext> = fn({
  ...REFRESH,
  doc: describe("The same as pkg.refresh_db.", "pkg.clean_metadata"),
  run: (_bound, context, { kwargs }) => refreshYum(kwargs, context),
});

/** Normalizes package names: removes an architecture that is the host's own. */
function normalizer(normalize: boolean, context: JobContext): ((name: string) => string) | undefined {
  return normalize ? (one) => withoutHostArchitecture(one, ownArchitecture(context)) : undefined;
}

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install packages: name, or pkgs (a list of names, and of maps from a name to a version, which may begin with <, <=, >\n" +
      "or >=, or be a glob), or sources (a list of maps from a name to a file), or advisory_ids. Return of each package that\n" +
      "changed its old and its new version. update_holds=True also changes packages that are held.\n\n" +
      "More keywords: version, fromrepo, enablerepo, disablerepo, disableexcludes, branch, setopt, split_arch, diff_attr.",
    "pkg.install <package name>",
    "pkg.install <package name> version=1.2.3",
    `pkg.install pkgs='["foo", {"bar": "1.2.3-4.el5"}]'`,
    `pkg.install sources='[{"foo": "salt://foo.rpm"}, {"bar": "salt://bar.rpm"}]'`,
  ),
  permissions: "all",
  params: {
    name: p.str(null),
    refresh: p.bool(false),
    skip_verify: p.bool(false),
    pkgs: p.any(null),
    sources: p.any(null),
    downloadonly: p.bool(false),
    reinstall: p.bool(false),
    normalize: p.bool(true),
    update_holds: p.bool(false),
    saltenv: p.str("base"),
    ignore_epoch: p.bool(false),
  },
  varKwargs: "kwargs",
  watchedKeywords: CHANGE_KEYWORDS,
  async run(bound, context, { kwargs }) {
    if (bound.refresh) await refreshYum(kwargs, context);
    const targets = await targetsOf(bound, kwargs, context);
    if (targets === undefined) return {};
    return await yum.installYumPackages(targets, context, {
      skipVerify: bound.skip_verify,
      downloadonly: bound.downloadonly,
      reinstall: bound.reinstall,
      updateHolds: bound.update_holds,
      ignoreEpoch: bound.ignore_epoch,
      kwargs,
      available: (names) => availableVersions(names, kwargs, context),
      advisories: () => patches(context),
      downloaded: () => downloadedPackages(`/var/cache/${yumProgram()}`, context),
    });
  },
});

async function targetsOf(
  bound: {
    readonly name: string | null;
    readonly pkgs: Value;
    readonly sources: Value;
    readonly saltenv: string;
    readonly normalize: boolean;
  },
  kwargs: ValueMap,
  context: JobContext,
): Promise<yum.YumTargets | undefined> {
  const { name, pkgs, sources, saltenv } = bound;
  if (kwargs.has("advisory_ids") && !(truthy(pkgs) && truthy(sources))) {
    if (truthy(pkgs)) {
      context.log("error", 'Cannot use "advisory_ids" and "pkgs" at the same time');
      return undefined;
    }
    const given = kwargs.get("advisory_ids") ?? null;
    const ids = truthy(given) ? splitInput(given) : [name ?? ""];
    return { kind: "advisory", ids };
  }
  const normalize = normalizer(bound.normalize && isTrue(kwargs.get("split_arch") ?? true), context);
  return await parseTargets({ name, pkgs, sources, saltenv, version: kwargs.get("version") }, context, normalize);
}

/** Arguments of `upgrade` and `update`. */
interface Upgrade {
  readonly name: string | null;
  readonly pkgs: Value;
  readonly refresh: boolean;
  readonly skip_verify: boolean;
  readonly normalize: boolean;
  readonly minimal: boolean;
  readonly obsoletes: boolean;
  readonly diff_attr?: Value;
}

async function upgradeAll(bound: Upgrade, kwargs: ValueMap, context: JobContext): Promise<ValueMap> {
  const keywords = new Map([...kwargs].filter(([key]) => key !== "diff_attr"));
  if (isDnf() && !bound.obsoletes) {
    const settings = splitInput(kwargs.get("setopt") ?? []).filter((one) => !one.startsWith("obsoletes="));
    keywords.set("setopt", [...settings, "obsoletes=False"]);
  }
  const options = yumOptions(keywords, true);
  if (bound.refresh) await refreshYum(keywords, context);
  const { name, pkgs } = bound;
  const targets = name || truthy(pkgs)
    ? await parseTargets({ name, pkgs, version: kwargs.get("version") }, context, normalizer(bound.normalize, context))
    : undefined;
  const names = targets?.kind === "repository" ? [...targets.packages.keys()] : [];
  const action = bound.obsoletes || isDnf() ? "upgrade" : "update";
  const words = [
    "--quiet",
    "-y",
    ...options,
    ...bound.skip_verify ? ["--nogpgcheck"] : [],
    bound.minimal ? `${action}-minimal` : action,
    ...names,
  ];
  return await yum.upgradeYumPackages(words, bound.diff_attr ?? kwargs.get("diff_attr") ?? null, context);
}

const UPGRADE = {
  name: p.str(null),
  pkgs: p.any(null),
  refresh: p.bool(true),
  skip_verify: p.bool(false),
  normalize: p.bool(true),
  minimal: p.bool(false),
};

export const upgrade: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Upgrade the named packages, or all packages, and return what has changed. obsoletes=False leaves those that others replace.\n" +
      "minimal=True: only to the next version that fixes something. More keywords are options of yum.",
    "pkg.upgrade",
    "pkg.upgrade name=openssl",
    "pkg.upgrade security=True",
  ),
  permissions: "all",
  params: { ...UPGRADE, obsoletes: p.bool(true), diff_attr: p.any(null) },
  varKwargs: "kwargs",
  watchedKeywords: CHANGE_KEYWORDS,
  run: (bound, context, { kwargs }) => upgradeAll(bound, kwargs, context),
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe("The same as pkg.upgrade with obsoletes=False.", "pkg.update", "pkg.update security=True"),
  permissions: "all",
  params: { ...UPGRADE, obsoletes: p.bool(false) },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => upgradeAll(bound, kwargs, context),
});

function uninstall(action: "remove" | "purge", doc: string): ModuleFunction<JobContext> {
  return removeFunction(action, doc, {
    watchedKeywords: CHANGE_KEYWORDS,
    async remove(removal, context, kwargs) {
      const targets = await parseTargets(removal, context, normalizer(true, context));
      if (targets === undefined) return {};
      return await yum.removeYumPackages(targets, action === "remove" ? kwargs : new Map(), context);
    },
  });
}

export const remove: ModuleFunction<JobContext> = uninstall(
  "remove",
  "Remove packages; a name may be a glob. Return the old and the new version of each package that changed.",
);

export const purge: ModuleFunction<JobContext> = uninstall("purge", "The same as pkg.remove.");

export const hold: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Keep packages at their version. It needs yum's or dnf's plugin versionlock.",
    "pkg.hold <package name>",
    `pkg.hold pkgs='["foo", "bar"]'`,
  ),
  permissions: "all",
  params: { name: p.str(null), pkgs: p.any(null), sources: p.any(null), normalize: p.bool(true) },
  varKwargs: "kwargs",
  async run({ name, pkgs, sources }, context) {
    await requireVersionlock(context);
    return await holdPackages(namedPackages({ name, pkgs, sources }), context);
  },
});

export const unhold: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Let held packages change again.",
    "pkg.unhold <package name>",
    `pkg.unhold pkgs='["foo", "bar"]'`,
  ),
  permissions: "all",
  params: { name: p.str(null), pkgs: p.any(null), sources: p.any(null) },
  varKwargs: "kwargs",
  async run({ name, pkgs, sources }, context) {
    await requireVersionlock(context);
    return await unholdPackages(namedPackages({ name, pkgs, sources }), context);
  },
});

export const list_holds: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the packages that are held, with full=False their names alone. pattern: what a name may be.",
    "pkg.list_holds",
    "pkg.list_holds full=False",
  ),
  permissions: "all",
  params: { pattern: p.str(HOLD_PATTERN), full: p.bool(true) },
  async run({ pattern, full }, context) {
    await requireVersionlock(context);
    return await heldPackages({ full, pattern }, context);
  },
});

export const get_locked_packages: ModuleFunction<JobContext> = {
  ...list_holds,
  doc: describe("The same as pkg.list_holds.", "pkg.get_locked_packages"),
};
