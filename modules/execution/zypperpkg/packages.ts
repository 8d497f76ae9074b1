/**
 * Execution module `pkg` for SUSE: what is installed, and what changes that. Its other functions are in `queries.ts`
 * and `_rpm_queries.ts`.
 * Source: the functions of Salt 3008.3 `salt/modules/zypperpkg.py`.
 * @module
 */

import { removalDoc, versionFunction } from "#modules/execution/_pkg_functions.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { parseTargets } from "#lib/host/packages/package_targets.ts";
import { infoOf, ownArchitecture } from "#lib/host/packages/rpm.ts";
import { ARCHITECTURES, areBoth32Bits, splitArchitecture } from "#lib/host/packages/rpm_architectures.ts";
import { rpmOrder } from "#lib/host/packages/rpm_version.ts";
import { runZypper, zypperXml } from "#lib/host/packages/zypper.ts";
import { parseLocks } from "#lib/host/packages/zypper_output.ts";
import * as zypper from "#lib/host/packages/zypper_packages.ts";
import { belowRoot } from "#lib/host/packages/zypper_repositories.ts";
import { downloadedPackages } from "#lib/host/packages/rpm_files.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { elementsNamed } from "#lib/text/xml.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { CHANGE_KEYWORDS, PACKAGE_KEYWORDS } from "#modules/execution/_pkg_keywords.ts";

export const virtual: Virtual = {
  name: "pkg",
  serves: [
    {
      grains: { os_family: ["Suse"] },
      otherwise: "Module zypper: non SUSE OS not supported by zypper package manager",
    },
    { programs: ["zypper"], otherwise: "Module zypper: zypper package manager not found" },
  ],
};

const ROOT = { root: p.str(null) };

/** A name without its architecture, if the host installs packages of that. */
function normalizeName(name: string, context: JobContext): string {
  const { name: bare, arch } = splitArchitecture(name);
  const own = ownArchitecture(context);
  const isOwn = arch !== null && (arch === own || arch === "noarch" || areBoth32Bits(arch, own));
  return isOwn && (arch === "noarch" || ARCHITECTURES.includes(arch)) ? bare : name;
}

export const normalize_name: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a package's name without its architecture, if that is the host's own.",
    "pkg.normalize_name zsh.x86_64",
  ),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }, context) => normalizeName(name, context),
});

export const parse_arch: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name and the architecture of a package's name, as a map.", "pkg.parse_arch zsh.x86_64"),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }) => splitArchitecture(name),
});

export const version: ModuleFunction<JobContext> = versionFunction(async (context, kwargs) => {
  const all = await zypper.listInstalled({ root: kwargs.get("root"), asList: true }, context);
  return new Map([...all].map(([name, list]) => [str(name), listOrEmpty(list).map(str)]));
}, { watchedKeywords: PACKAGE_KEYWORDS, missing: "an empty map" });

export const version_cmp: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Compare two versions: -1 if the first is older, 0 if they are equal, 1 if it is newer. ignore_epoch=True leaves out what\n" +
      "is before a colon.",
    "pkg.version_cmp '0.2-001' '0.2.0.1-002'",
  ),
  permissions: "all",
  params: { ver1: p.str(), ver2: p.str(), ignore_epoch: p.bool(false) },
  varKwargs: "kwargs",
  run: ({ ver1, ver2, ignore_epoch }) => rpmOrder(ignore_epoch)(ver1, ver2),
});

export const list_pkgs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed packages with their versions, as text or with versions_as_list=True as lists. attr: attributes of\n" +
      "each version in place of it. includes: also product, pattern and patch, as `pattern:name`.",
    "pkg.list_pkgs",
    "pkg.list_pkgs attr=version,arch",
  ),
  permissions: "all",
  params: { versions_as_list: p.bool(false), ...ROOT, includes: p.any(null) },
  varKwargs: "kwargs",
  run({ versions_as_list: asList, root, includes }, context, { kwargs }) {
    if (isTrue(kwargs.get("removed")) || isTrue(kwargs.get("purge_desired"))) return {};
    const kinds = truthy(includes) ? splitInput(includes) : [];
    return zypper.listInstalled({ root, asList, attr: kwargs.get("attr"), includes: kinds }, context);
  },
});

export const refresh_db: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Update the package lists of the repositories. Return for each repository True (updated) or False (up to date).\n" +
      "force=False reads what has changed; repos: only these; gpgautoimport=True accepts their keys.",
    "pkg.refresh_db",
    "pkg.refresh_db repos='[myrepo1, myrepo2]'",
  ),
  permissions: "all",
  params: { force: p.any(null), ...ROOT, gpgautoimport: p.bool(false) },
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => zypper.refreshZypper(keywords(kwargs, bound), context),
});

/** The keywords with more of them; what is None does not count. */
function keywords(kwargs: ValueMap, more: Readonly<Record<string, Value>>): ValueMap {
  return new Map([...kwargs, ...Object.entries(more).filter(([, value]) => value !== null)]);
}

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install packages: name, or pkgs (a list of names, and of maps from a name to a version, which may begin with <, <=, >\n" +
      "or >=), or sources (a list of maps from a name to a file), or advisory_ids. Return of each package that changed its old\n" +
      "and its new version. version: of the one package, may be a glob. More keywords: resolve_capabilities, diff_attr.",
    "pkg.install <package name>",
    `pkg.install pkgs='["foo", {"bar": "<1.2.3-4"}]'`,
    `pkg.install sources='[{"foo": "salt://foo.rpm"}]'`,
  ),
  permissions: "all",
  params: {
    name: p.str(null),
    refresh: p.bool(false),
    fromrepo: p.str(null),
    pkgs: p.any(null),
    sources: p.any(null),
    downloadonly: p.any(null),
    skip_verify: p.bool(false),
    version: p.str(null),
    ignore_repo_failure: p.bool(false),
    no_recommends: p.bool(false),
    ...ROOT,
  },
  varKwargs: "kwargs",
  watchedKeywords: CHANGE_KEYWORDS,
  async run(bound, context, { kwargs }) {
    const { name, refresh, pkgs, sources, root } = bound;
    if (refresh) await zypper.refreshZypper(keywords(kwargs, { root }), context);
    const ids = kwargs.get("advisory_ids");
    const targets: zypper.ZypperTargets | undefined = ids !== undefined && !truthy(pkgs)
      ? { kind: "advisory", ids: truthy(ids) ? splitInput(ids) : [name ?? ""] }
      : await parseTargets({ name, pkgs, sources }, context, (one) => normalizeName(one, context));
    if (targets === undefined) return {};
    const how = {
      ...bound,
      hasLists: pkgs !== null || sources !== null,
      downloadonly: truthy(bound.downloadonly),
      skipVerify: bound.skip_verify,
      ignoreRepoFailure: bound.ignore_repo_failure,
      noRecommends: bound.no_recommends,
      byCapability: truthy(kwargs.get("resolve_capabilities")),
      attr: kwargs.get("diff_attr") ?? null,
      downloaded: () => downloadedPackages(belowRoot("/var/cache/zypp/packages", root), context),
    };
    return await zypper.installZypperPackages(targets, how, context);
  },
});

export const upgrade: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Upgrade the named packages, or all packages, with dist_upgrade=True also where others must be removed or added. Return what has\n" +
      "changed, or with dryrun=True what zypper says.",
    "pkg.upgrade",
    "pkg.upgrade name=mypackage",
    "pkg.upgrade dist_upgrade=True fromrepo='MyRepoName' novendorchange=True",
  ),
  permissions: "all",
  params: {
    name: p.str(null),
    pkgs: p.any(null),
    refresh: p.bool(true),
    dryrun: p.bool(false),
    dist_upgrade: p.bool(false),
    fromrepo: p.any(null),
    novendorchange: p.bool(false),
    skip_verify: p.bool(false),
    no_recommends: p.bool(false),
    ...ROOT,
    diff_attr: p.any(null),
  },
  varKwargs: "kwargs",
  watchedKeywords: CHANGE_KEYWORDS,
  async run(bound, context, { kwargs }) {
    const { name, pkgs, dist_upgrade, dryrun, root } = bound;
    if (bound.refresh) await zypper.refreshZypper(keywords(kwargs, { root }), context);
    const from = truthy(bound.fromrepo) ? splitInput(bound.fromrepo) : [];
    const words = [
      ...bound.skip_verify ? ["--no-gpg-checks"] : [],
      dist_upgrade ? "dist-upgrade" : "update",
      "--auto-agree-with-licenses",
      ...dryrun ? ["--dry-run"] : [],
      ...from.flatMap((one) => [dist_upgrade ? "--from" : "--repo", one]),
    ];
    if (dist_upgrade) {
      if (bound.novendorchange && majorRelease(context) > 11) words.push("--no-allow-vendor-change");
      if (bound.no_recommends) words.push("--no-recommends");
      if (dryrun) await runZypper([...words, "--debug-solver"], context, { root, scope: true, soft: true });
    } else if (name || truthy(pkgs)) {
      const given = { name, pkgs, version: kwargs.get("version") };
      const targets = await parseTargets(given, context, (one) => normalizeName(one, context));
      if (targets?.kind === "repository") words.push(...targets.packages.keys());
    }
    return await zypper.upgradeZypperPackages(words, { root, attr: bound.diff_attr, dryrun }, context);
  },
});

function majorRelease({ grains }: JobContext): number {
  const info = grains.get("osrelease_info");
  return (Array.isArray(info) ? toNumber(info[0]) : undefined) ?? 0;
}

function uninstall(action: "remove" | "purge", doc: string): ModuleFunction<JobContext> {
  return fn({
    doc: removalDoc(action, doc),
    permissions: "all",
    params: { name: p.str(null), pkgs: p.any(null), ...ROOT },
    varKwargs: "kwargs",
    watchedKeywords: CHANGE_KEYWORDS,
    async run({ name, pkgs, root }, context) {
      const targets = await parseTargets({ name, pkgs }, context, (one) => normalizeName(one, context));
      return targets === undefined ? {} : await zypper.removeZypperPackages(targets, root, context);
    },
  });
}

export const remove: ModuleFunction<JobContext> = uninstall(
  "remove",
  "Remove packages. Return the old and the new version of each package that changed.",
);

export const purge: ModuleFunction<JobContext> = uninstall("purge", "The same as pkg.remove.");

function readLocks(root: Value): Map<string, ValueMap> {
  return parseLocks(readTextFileIfExists(belowRoot("/etc/zypp/locks", root)) ?? "");
}

export const list_locks: ModuleFunction<JobContext> = fn({
  doc: describe("Return the locks of zypper by the name of what they hold.", "pkg.list_locks"),
  permissions: "all",
  params: ROOT,
  run: ({ root }) => readLocks(root),
});

export const clean_locks: ModuleFunction<JobContext> = fn({
  doc: describe("Remove locks that hold nothing. Return how many.", "pkg.clean_locks"),
  permissions: "all",
  params: ROOT,
  async run({ root }, context) {
    if (!lexists(belowRoot("/etc/zypp/locks", root))) return { removed: 0 };
    for (const { text: message } of elementsNamed(await zypperXml(["cl"], context, { root }), "message")) {
      if (message.toLowerCase().startsWith("removed")) return { removed: message.split(" ")[1] };
    }
    return { removed: 0 };
  },
});

/**
 * Names with versions, or without.
 * @throws {CommandError} If there are none.
 */
function wantedPackages(name: string | null, pkgs: Value): (readonly [name: string, version: Value])[] {
  if (!name && !truthy(pkgs)) throw new CommandError("Name or packages must be specified.");
  const list = truthy(pkgs) ? asList(pkgs) : [name];
  return list.map((one) => {
    const [first, version] = isMap(one) ? [...one][0] ?? ["", null] : [one, null];
    return [checkedWord(str(first), "package name"), version] as const;
  });
}

const HOLD = {
  permissions: "all",
  params: { name: p.str(null), pkgs: p.any(null), ...ROOT },
  varKwargs: "kwargs",
} as const;

export const hold: ModuleFunction<JobContext> = fn({
  ...HOLD,
  doc: describe(
    "Keep packages at their version.",
    "pkg.hold <package name>",
    `pkg.hold pkgs='["foo", "bar"]'`,
  ),
  async run({ name, pkgs, root }, context) {
    const given = wantedPackages(name, pkgs);
    const locks = readLocks(root);
    const results: ValueMap = new Map();
    const added: string[] = [];
    for (const [one, version] of given) {
      const isHeld = truthy(locks.get(one));
      if (!isHeld) added.push(truthy(version) ? `${one}=${str(version)}` : one);
      const changes = isHeld ? {} : { new: "hold", old: "" };
      const comment = `Package ${one} is ${isHeld ? "already set to be" : "now being"} held.`;
      results.set(one, map({ name: one, changes, result: true, comment }));
    }
    if (added.length > 0) await runZypper(["al", ...added], context, { root });
    return results;
  },
});

export const unhold: ModuleFunction<JobContext> = fn({
  ...HOLD,
  doc: describe(
    "Let held packages change again.",
    "pkg.unhold <package name>",
    `pkg.unhold pkgs='["foo", "bar"]'`,
  ),
  async run({ name, pkgs, root }, context) {
    const given = wantedPackages(name, pkgs);
    const locks = readLocks(root);
    const results: ValueMap = new Map();
    const removed: string[] = [];
    for (const [one, version] of given) {
      const lock = locks.get(one);
      const entry = map({ name: one, changes: {}, result: true, comment: `Package ${one} was already unheld.` });
      results.set(one, entry);
      if (lock === undefined || lock.size === 0) continue;
      const held = str(lock.get("version") ?? "").replace(/^[= ]+/, "");
      if (truthy(version) && held !== str(version)) {
        entry.set("result", false);
        entry.set("comment", `Unable to unhold package ${one} as it is held with the other version.`);
      } else {
        removed.push(held === "" ? one : `${one}=${held}`);
        entry.set("changes", map({ new: "", old: "hold" })).set("comment", `Package ${one} is no longer held.`);
      }
    }
    if (removed.length > 0) await runZypper(["rl", ...removed], context, { root });
    return results;
  },
});

export const list_holds: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed packages that are held, with full=False their names alone. pattern: what a name must match.",
    "pkg.list_holds",
    "pkg.list_holds full=False",
  ),
  permissions: "all",
  params: { pattern: p.str(null), full: p.bool(true), ...ROOT },
  varKwargs: "kwargs",
  async run({ pattern, full, root }, context) {
    const editions = new Map<string, ValueMap[]>();
    for (const [name, lock] of readLocks(root)) {
      if ((lock.get("type") ?? "package") !== "package") continue;
      for (const one of await lockedNames(name, lock, { root, context })) {
        if (editions.has(one)) continue;
        for (const [edition, all] of await infoOf([one], { root, attr: "edition,epoch" }, context)) {
          editions.set(edition, all);
        }
      }
    }
    const expression = pattern ? pythonRegex(`${pattern}-\\S+`) : undefined;
    const held = [...editions].flatMap(([name, all]) =>
      all.map((one) => full ? `${name}-${str(one.get("epoch") ?? 0)}:${str(one.get("edition") ?? null)}.*` : name)
    );
    return [...new Set(held)].filter((one) => expression?.test(one) ?? true);
  },
});

/** The installed packages that a lock holds. */
async function lockedNames(
  name: string,
  lock: ValueMap,
  { root, context }: { readonly root: Value; readonly context: JobContext },
): Promise<string[]> {
  const kwargs = new Map<Value, Value>([
    ["root", root],
    ["match", name.includes("*") ? null : "exact"],
    ["case_sensitive", (lock.get("case_sensitive") ?? "on") === "on"],
    ["installed_only", true],
    ["details", true],
  ]);
  try {
    return [...(await zypper.searchPackages(name, kwargs, context)).keys()].map(str);
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
}
