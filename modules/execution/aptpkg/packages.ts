/**
 * Execution module `pkg` for Debian and its family: what is installed, and what changes that. Its other functions are
 * in `queries.ts` and `repositories.ts`. Source: the functions of Salt 3008.3 `salt/modules/aptpkg.py`.
 * @module
 */

import { availableVersion, upgradeAvailable, versionFunction } from "#modules/execution/_pkg_functions.ts";
import { namedPackages } from "#modules/execution/_package_names.ts";
import { InvocationError } from "#lib/errors.ts";
import * as apt from "#lib/host/debian_packages/apt.ts";
import * as dpkg from "#lib/host/debian_packages/dpkg.ts";
import { compareDebianVersions } from "#lib/host/debian_packages/debian_version.ts";
import { asVersions } from "#lib/host/packages/package_list.ts";
import { parseTargets } from "#lib/host/packages/package_targets.ts";
import { withoutEpochs } from "#lib/host/packages/version_match.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { CHANGE_KEYWORDS, PACKAGE_KEYWORDS } from "#modules/execution/_pkg_keywords.ts";

export const virtual: Virtual = {
  name: "pkg",
  serves: [{
    grains: { os_family: ["Debian"] },
    otherwise: "The pkg module could not be loaded: unsupported OS family",
  }],
};

export const normalize_name: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a package's name without its architecture, if that is the host's own.",
    "pkg.normalize_name zsh:amd64",
  ),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }, context) => apt.normalizeName(name, context),
});

export const parse_arch: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name and the architecture of a package's name, as a map.", "pkg.parse_arch zsh:amd64"),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }) => apt.parseArch(name),
});

const LATEST = {
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  async run(_bound: unknown, context: JobContext, { args, kwargs }: { args: Value[]; kwargs: ValueMap }) {
    if (kwargs.has("repo")) throw new InvocationError("The 'repo' argument is invalid, use 'fromrepo' instead");
    const names = args.map(str);
    if (names.length === 0) return "";
    await apt.refreshIfAsked(kwargs, context, kwargs.get("refresh") ?? true);
    return await apt.latestAptVersions(names, context, {
      fromrepo: kwargs.get("fromrepo"),
      showInstalled: isTrue(kwargs.get("show_installed")),
    });
  },
} as const;

export const latest_version: ModuleFunction<JobContext> = fn({
  ...LATEST,
  doc: describe(
    "Return the version of a package that an installation or upgrade would bring, and an empty string if the newest is\n" +
      "installed or there is none; for several packages, a map. refresh=False does not update the package lists first.",
    "pkg.latest_version <package name>",
    "pkg.latest_version <package name> fromrepo=unstable",
    "pkg.latest_version <package1> <package2> <package3> ...",
  ),
});

export const available_version: ModuleFunction<JobContext> = availableVersion(latest_version);

export const version: ModuleFunction<JobContext> = versionFunction((context) => apt.installedAptPackages(context), {
  watchedKeywords: PACKAGE_KEYWORDS,
});

export const refresh_db: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Update the package lists of the repositories. Return for each source True (updated), None (unchanged) or False\n" +
      "(failed). cache_valid_time: seconds for which the last update is recent enough. failhard: whether\n" +
      "a failed source is an error.",
    "pkg.refresh_db",
  ),
  permissions: "all",
  params: { cache_valid_time: p.int(0), failhard: p.bool(false) },
  varKwargs: "kwargs",
  run: ({ cache_valid_time, failhard }, context, { kwargs }) =>
    apt.refreshPackages(context, { cacheValidTime: cache_valid_time, failhard, timeout: kwargs.get("timeout") }),
});

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install packages: name, or pkgs (a list of names, and of maps from a name to a version, which may begin with <, <=, >\n" +
      "or >=), or sources (a list of maps from a name to a file). Return of each package that changed its old and its new\n" +
      "version. Held packages are released for the installation, and held again.\n\n" +
      "More keywords: version, force_conf_new, force_yes, install_recommends, only_upgrade, env, cache_valid_time.",
    "pkg.install <package name>",
    "pkg.install <package name> version=1.2.3",
    `pkg.install pkgs='["foo", {"bar": ">=1.2"}]'`,
    `pkg.install sources='[{"foo": "/tmp/foo.deb"}]'`,
  ),
  permissions: "all",
  params: {
    name: p.str(null),
    refresh: p.bool(false),
    fromrepo: p.str(null),
    skip_verify: p.bool(false),
    debconf: p.str(null),
    pkgs: p.any(null),
    sources: p.any(null),
    reinstall: p.bool(false),
    downloadonly: p.bool(false),
    ignore_epoch: p.bool(false),
    normalize: p.bool(true),
  },
  varKwargs: "kwargs",
  watchedKeywords: CHANGE_KEYWORDS,
  async run(bound, context, { kwargs }) {
    if (bound.debconf !== null) await context.call("debconf.set_file", [bound.debconf]);
    const normalize = bound.normalize && isTrue(kwargs.get("split_arch") ?? true)
      ? (one: string) => apt.normalizeName(one, context)
      : undefined;
    const requested = { ...bound, version: kwargs.get("version"), saltenv: kwargs.get("saltenv") };
    const targets = await parseTargets(requested, context, normalize);
    if (targets === undefined) return {};
    await apt.refreshIfAsked(kwargs, context, bound.refresh);
    return await apt.installAptPackages(targets, context, {
      fromrepo: bound.fromrepo ?? kwargs.get("repo") ?? null,
      skipVerify: bound.skip_verify,
      reinstall: bound.reinstall,
      downloadonly: bound.downloadonly,
      ignoreEpoch: bound.ignore_epoch,
      kwargs,
    });
  },
});

function uninstall(action: "remove" | "purge", what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `${what} A name may be a glob; several are separated by commas, or listed in pkgs.`,
      `pkg.${action} <package name>`,
      `pkg.${action} <package1>,<package2>,<package3>`,
      `pkg.${action} pkgs='["foo", "bar"]'`,
    ),
    permissions: "all",
    params: { name: p.str(null), pkgs: p.any(null) },
    varKwargs: "kwargs",
    watchedKeywords: CHANGE_KEYWORDS,
    async run({ name, pkgs }, context, { kwargs }) {
      const targets = await parseTargets({ name, pkgs }, context, (one) => apt.normalizeName(one, context));
      if (targets === undefined) return {};
      return await apt.removeAptPackages(action, targets, context, kwargs.get("env") ?? null);
    },
  });
}

export const remove: ModuleFunction<JobContext> = uninstall(
  "remove",
  "Remove packages, and leave their configuration. Return the old and the new version of each package that changed.",
);

export const purge: ModuleFunction<JobContext> = uninstall(
  "purge",
  "Remove packages with their configuration. Return a map with what was `installed`, and what was only `removed`.",
);

export const autoremove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove packages that were installed automatically and that no other package needs any more; list_only=True only lists them. purge=True removes their configuration too.",
    "pkg.autoremove",
    "pkg.autoremove list_only=True",
    "pkg.autoremove purge=True",
  ),
  permissions: "all",
  params: { list_only: p.bool(false), purge: p.bool(false) },
  run: ({ list_only, purge }, context) => apt.autoremovePackages(context, { listOnly: list_only, purge }),
});

export const upgrade: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Upgrade all packages; with dist_upgrade=True, others may be removed or added for it. Return what has changed.\n\n" +
      "More keywords: cache_valid_time, force_conf_new, force_yes, skip_verify, download_only, allow_downgrades.",
    "pkg.upgrade",
  ),
  permissions: "all",
  params: { refresh: p.bool(true), dist_upgrade: p.bool(false) },
  varKwargs: "kwargs",
  watchedKeywords: CHANGE_KEYWORDS,
  async run({ refresh, dist_upgrade }, context, { kwargs }) {
    await apt.refreshIfAsked(kwargs, context, refresh);
    return await apt.upgradeAptPackages(context, { dist: dist_upgrade, kwargs });
  },
});

/** The texts of `hold` and `unhold`, by the state of a package. */
const HOLDING = {
  hold: { done: "now being held", already: "already set to be held", planned: "set to be held", state: "hold" },
  unhold: {
    done: "no longer being held",
    already: "already set not to be held",
    planned: "set not to be held",
    state: "install",
  },
} as const;

function holding(action: "hold" | "unhold", doc: string): ModuleFunction<JobContext> {
  const words = HOLDING[action];
  return fn({
    doc,
    permissions: "all",
    params: { name: p.str(null), pkgs: p.any(null), sources: p.any(null) },
    varKwargs: "kwargs",
    async run({ name, pkgs, sources }, context) {
      const results: ValueMap = new Map();
      for (const target of namedPackages({ name, pkgs, sources })) {
        const states = await dpkg.selections(context, target);
        const result = map({ name: target, changes: {}, result: false, comment: "" });
        results.set(target, result);
        const isHeld = (states.get("hold") ?? []).length > 0;
        if (action === "unhold" && states.size === 0) result.set("comment", `Package ${target} does not have a state.`);
        else if (isHeld === (action === "hold")) {
          result.set("result", true).set("comment", `Package ${target} is ${words.already}.`);
        } else if (context.opts.test === true) {
          result.set("result", null).set("comment", `Package ${target} is ${words.planned}.`);
        } else {
          const changes = await dpkg.select(words.state, [target], context);
          result.set("changes", changes.get(target) ?? new Map()).set("result", changes.has(target));
          result.set("comment", `Package ${target} ${changes.has(target) ? "is" : "could not be set:"} ${words.done}.`);
        }
      }
      return results;
    },
  });
}

export const hold: ModuleFunction<JobContext> = holding(
  "hold",
  describe("Keep packages at their version.", "pkg.hold <package name>", `pkg.hold pkgs='["foo", "bar"]'`),
);

export const unhold: ModuleFunction<JobContext> = holding(
  "unhold",
  describe("Let held packages change again.", "pkg.unhold <package name>", `pkg.unhold pkgs='["foo", "bar"]'`),
);

export const list_pkgs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed packages with their versions, as text or with versions_as_list=True as lists. removed=True: packages\n" +
      "of which only the configuration is left. purge_desired=True: those marked to be purged, and not yet removed.",
    "pkg.list_pkgs",
    "pkg.list_pkgs versions_as_list=True",
  ),
  permissions: "all",
  params: { versions_as_list: p.bool(false), removed: p.bool(false), purge_desired: p.bool(false) },
  varKwargs: "kwargs",
  async run({ versions_as_list, removed, purge_desired }, context) {
    const packages = await apt.debianPackages(context);
    const requested = removed
      ? packages.removed
      : purge_desired
      ? packages.purgeDesired
      : new Map([...packages.purgeDesired, ...packages.installed]);
    return asVersions(requested, versions_as_list);
  },
});

export const list_upgrades: ModuleFunction<JobContext> = fn({
  doc: describe("Return the packages that an upgrade would bring, with their new versions.", "pkg.list_upgrades"),
  permissions: "all",
  params: { refresh: p.bool(true), dist_upgrade: p.bool(true) },
  varKwargs: "kwargs",
  async run({ refresh, dist_upgrade }, context, { kwargs }) {
    await apt.refreshIfAsked(kwargs, context, refresh);
    return await apt.upgradablePackages(context, { dist: dist_upgrade, fromrepo: kwargs.get("fromrepo") });
  },
});

export const upgrade_available: ModuleFunction<JobContext> = upgradeAvailable(async (name, context) => {
  await apt.refreshPackages(context);
  return await apt.latestAptVersions([name], context);
});

export const version_cmp: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Compare two versions: -1 if the first is older, 0 if they are equal, 1 if it is newer. ignore_epoch=True ignores the epoch,\n" +
      "the part before the colon.",
    "pkg.version_cmp '0.2.4-0ubuntu1' '0.2.4.1-0ubuntu1'",
  ),
  permissions: "all",
  params: { pkg1: p.str(), pkg2: p.str(), ignore_epoch: p.bool(false) },
  varKwargs: "kwargs",
  run: ({ pkg1, pkg2, ignore_epoch }) =>
    (ignore_epoch ? withoutEpochs(compareDebianVersions) : compareDebianVersions)(pkg1, pkg2),
});

export const list_repo_pkgs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the packages that the repositories offer, all or those named, each with its versions.",
    "pkg.list_repo_pkgs",
    "pkg.list_repo_pkgs foo bar baz",
  ),
  permissions: "all",
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: (_bound, context, { args }) => apt.repositoryPackages(args.map(str), context),
});
