/**
 * Execution module `pkg` for Debian and its family.
 * Source: the functions of Salt 3008.3 `salt/modules/aptpkg.py`.
 * @module
 */

import { CommandError, CommandNotFoundError, InvocationError } from "../../lib/errors.ts";
import { checkedWord, outputOf, runProgram } from "../../lib/host/run_program.ts";
import { which as findProgram } from "../../lib/host/which.ts";
import { isAnything } from "../../lib/os/file_kind.ts";
import * as apt from "../../lib/packages/apt.ts";
import {
  addKey,
  deleteKey,
  type KeyPlace,
  listKeys,
  type NewKey,
  personalArchive,
} from "../../lib/packages/apt_keys.ts";
import { parseLicences, parseSelections, parseServicesToRestart, parseShow } from "../../lib/packages/apt_output.ts";
import * as repositories from "../../lib/packages/apt_repositories.ts";
import { compareDebianVersions } from "../../lib/packages/debian_version.ts";
import { asVersions, versionsOf } from "../../lib/packages/package_list.ts";
import { parseTargets } from "../../lib/packages/package_targets.ts";
import { withoutEpochs } from "../../lib/packages/version_match.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, bool, int, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import type { Virtual } from "../../lib/plugins/virtual.ts";
import { isTrue } from "../../lib/values/is_true.ts";
import { splitInput } from "../../lib/values/split_input.ts";
import { isMap, map, str as text, truthy, type Value, type ValueMap } from "../../lib/values/value.ts";
import { loadYaml } from "../../lib/values/yaml.ts";

export const virtual: Virtual = {
  name: "pkg",
  serves: [{
    grains: { os_family: ["Debian"] },
    otherwise: "The pkg module could not be loaded: unsupported OS family",
  }],
};

/** The published fields among keywords are nobody's arguments. */
function ownKeywords(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([key]) => typeof key !== "string" || !key.startsWith("__")));
}

/** @throws {InvocationError} If there are keywords but these. */
function refuseOthers(kwargs: ValueMap, known: readonly string[]): void {
  const others = [...ownKeywords(kwargs)].filter(([key]) => !known.includes(text(key)));
  if (others.length === 0) return;
  const listed = others.map(([key, value]) => `${text(key)}=${text(value)}`).join(", ");
  throw new InvocationError(`The following keyword arguments are not valid: ${listed}`);
}

async function refreshed(kwargs: ValueMap, context: JobContext, refresh: Value): Promise<void> {
  if (isTrue(refresh)) await apt.refreshPackages(context, { cacheValidTime: kwargs.get("cache_valid_time") });
}

export const normalize_name: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a package's name without its architecture, if that is the host's own.",
    "pkg.normalize_name zsh:amd64",
  ),
  permissions: "all",
  params: { name: str() },
  run: ({ name }, context) => apt.normalizeName(name, context),
});

export const parse_arch: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name and the architecture of a package's name, as a map.", "pkg.parse_arch zsh:amd64"),
  permissions: "all",
  params: { name: str() },
  run: ({ name }) => apt.parseArch(name),
});

const LATEST = {
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  async run(_bound: unknown, context: JobContext, { args, kwargs }: { args: Value[]; kwargs: ValueMap }) {
    if (kwargs.has("repo")) throw new InvocationError("The 'repo' argument is invalid, use 'fromrepo' instead");
    const names = args.map(text);
    if (names.length === 0) return "";
    await refreshed(kwargs, context, kwargs.get("refresh") ?? true);
    return await apt.latestVersions(names, context, {
      fromrepo: kwargs.get("fromrepo"),
      showInstalled: isTrue(kwargs.get("show_installed")),
    });
  },
} as const;

export const latest_version: ModuleFunction<JobContext> = fn({
  ...LATEST,
  doc: describe(
    "Return the version of a package that an installation or upgrade would bring, and an empty text if the newest is\n" +
      "installed or there is none; of several packages a map. refresh=False leaves out reading the repositories.",
    "pkg.latest_version <package name>",
    "pkg.latest_version <package name> fromrepo=unstable",
    "pkg.latest_version <package1> <package2> <package3> ...",
  ),
});

export const available_version: ModuleFunction<JobContext> = fn({
  ...LATEST,
  doc: describe("The same as pkg.latest_version.", "pkg.available_version <package name>"),
});

export const version: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed version of a package, an empty text if it is not installed; of several, or of a glob, a map.",
    "pkg.version <package name>",
    "pkg.version <package1> <package2> <package3> ...",
  ),
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  run: async (_bound, context, { args, kwargs }) =>
    versionsOf(await apt.installedPackages(context), args.map(text), isTrue(kwargs.get("versions_as_list"))),
});

export const refresh_db: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Read the lists of packages of the repositories anew. Return of each source True if it was read, None if nothing had\n" +
      "changed, False if it failed. cache_valid_time: seconds for which the last reading is good enough. failhard: whether\n" +
      "a source that failed is an error.",
    "pkg.refresh_db",
  ),
  permissions: "all",
  params: { cache_valid_time: int(0), failhard: bool(false) },
  varKwargs: "kwargs",
  run: ({ cache_valid_time, failhard }, context, { kwargs }) =>
    apt.refreshPackages(context, { cacheValidTime: cache_valid_time, failhard, timeout: kwargs.get("timeout") }),
});

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install packages: name, or pkgs (a list of names, and of maps from a name to a version, which may begin with <, <=, >\n" +
      "or >=), or sources (a list of maps from a name to a file). Return of each package that changed its old and its new\n" +
      "version. Packages that are held are released for it, and held again.\n\n" +
      "More keywords: version, force_conf_new, force_yes, install_recommends, only_upgrade, env, cache_valid_time.",
    "pkg.install <package name>",
    "pkg.install <package name> version=1.2.3",
    `pkg.install pkgs='["foo", {"bar": ">=1.2"}]'`,
    `pkg.install sources='[{"foo": "/tmp/foo.deb"}]'`,
  ),
  permissions: "all",
  params: {
    name: str(null),
    refresh: bool(false),
    fromrepo: str(null),
    skip_verify: bool(false),
    debconf: str(null),
    pkgs: any(null),
    sources: any(null),
    reinstall: bool(false),
    downloadonly: bool(false),
    ignore_epoch: bool(false),
    normalize: bool(true),
  },
  varKwargs: "kwargs",
  async run(bound, context, { kwargs }) {
    if (bound.debconf !== null) await context.call("debconf.set_file", [bound.debconf]);
    const normalize = bound.normalize && isTrue(kwargs.get("split_arch") ?? true)
      ? (one: string) => apt.normalizeName(one, context)
      : undefined;
    const asked = { ...bound, version: kwargs.get("version"), saltenv: kwargs.get("saltenv") };
    const targets = await parseTargets(asked, context, normalize);
    if (targets === undefined) return {};
    await refreshed(kwargs, context, bound.refresh);
    return await apt.installPackages(targets, context, {
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
    params: { name: str(null), pkgs: any(null) },
    varKwargs: "kwargs",
    async run({ name, pkgs }, context, { kwargs }) {
      const targets = await parseTargets({ name, pkgs }, context, (one) => apt.normalizeName(one, context));
      if (targets === undefined) return {};
      return await apt.removePackages(action, targets, context, kwargs.get("env") ?? null);
    },
  });
}

export const remove: ModuleFunction<JobContext> = uninstall(
  "remove",
  "Remove packages, and leave their configuration. Return of each package that changed its old and its new version.",
);

export const purge: ModuleFunction<JobContext> = uninstall(
  "purge",
  "Remove packages with their configuration. Return a map with what was `installed`, and what was only `removed`.",
);

export const autoremove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove packages that nothing needs any more; list_only=True lists them. purge=True removes their configuration too.",
    "pkg.autoremove",
    "pkg.autoremove list_only=True",
    "pkg.autoremove purge=True",
  ),
  permissions: "all",
  params: { list_only: bool(false), purge: bool(false) },
  run: ({ list_only, purge }, context) => apt.autoremovePackages(context, { listOnly: list_only, purge }),
});

export const upgrade: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Upgrade all packages, with dist_upgrade=True also where others must be removed or added. Return what has changed.\n\n" +
      "More keywords: cache_valid_time, force_conf_new, force_yes, skip_verify, download_only, allow_downgrades.",
    "pkg.upgrade",
  ),
  permissions: "all",
  params: { refresh: bool(true), dist_upgrade: bool(false) },
  varKwargs: "kwargs",
  async run({ refresh, dist_upgrade }, context, { kwargs }) {
    await refreshed(kwargs, context, refresh);
    return await apt.upgradePackages(context, { dist: dist_upgrade, kwargs });
  },
});

/** What `hold` and `unhold` say, by what they find. */
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
    params: { name: str(null), pkgs: any(null), sources: any(null) },
    varKwargs: "kwargs",
    async run({ name, pkgs, sources }, context) {
      if (!name && !truthy(pkgs) && !truthy(sources)) {
        throw new InvocationError("One of name, pkgs, or sources must be specified.");
      }
      if (truthy(pkgs) && truthy(sources)) throw new InvocationError("Only one of pkgs or sources can be specified.");
      const given = truthy(pkgs) ? pkgs : truthy(sources) ? sources : name;
      const results: ValueMap = new Map();
      for (const one of Array.isArray(given) ? given : [given]) {
        const target = text(isMap(one) ? [...one.keys()][0] ?? "" : one);
        const states = await apt.selections(context, target);
        const result = map({ name: target, changes: {}, result: false, comment: "" });
        results.set(target, result);
        const isHeld = (states.get("hold") ?? []).length > 0;
        if (action === "unhold" && states.size === 0) result.set("comment", `Package ${target} does not have a state.`);
        else if (isHeld === (action === "hold")) {
          result.set("result", true).set("comment", `Package ${target} is ${words.already}.`);
        } else if (isTrue(context.opts.extra.get("test"))) {
          result.set("result", null).set("comment", `Package ${target} is ${words.planned}.`);
        } else {
          const changes = await apt.select(words.state, [target], context);
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
    "Return the installed packages with their versions, as text or with versions_as_list=True as lists. removed=True: those\n" +
      "of which only the configuration is left. purge_desired=True: those marked to be purged, and not yet removed.",
    "pkg.list_pkgs",
    "pkg.list_pkgs versions_as_list=True",
  ),
  permissions: "all",
  params: { versions_as_list: bool(false), removed: bool(false), purge_desired: bool(false) },
  varKwargs: "kwargs",
  async run({ versions_as_list, removed, purge_desired }, context) {
    const packages = await apt.debianPackages(context);
    const asked = removed
      ? packages.removed
      : purge_desired
      ? packages.purgeDesired
      : new Map([...packages.purgeDesired, ...packages.installed]);
    return asVersions(asked, versions_as_list);
  },
});

export const list_upgrades: ModuleFunction<JobContext> = fn({
  doc: describe("Return the packages that an upgrade would bring, with their new versions.", "pkg.list_upgrades"),
  permissions: "all",
  params: { refresh: bool(true), dist_upgrade: bool(true) },
  varKwargs: "kwargs",
  async run({ refresh, dist_upgrade }, context, { kwargs }) {
    await refreshed(kwargs, context, refresh);
    return await apt.upgradablePackages(context, { dist: dist_upgrade, fromrepo: kwargs.get("fromrepo") });
  },
});

export const upgrade_available: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a newer version of a package is there.", "pkg.upgrade_available <package name>"),
  permissions: "all",
  params: { name: str() },
  varKwargs: "kwargs",
  async run({ name }, context) {
    await apt.refreshPackages(context);
    return await apt.latestVersions([name], context) !== "";
  },
});

export const version_cmp: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Compare two versions: -1 if the first is older, 0 if they are equal, 1 if it is newer. ignore_epoch=True leaves out what\n" +
      "is before a colon.",
    "pkg.version_cmp '0.2.4-0ubuntu1' '0.2.4.1-0ubuntu1'",
  ),
  permissions: "all",
  params: { pkg1: str(), pkg2: str(), ignore_epoch: bool(false) },
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
  run: (_bound, context, { args }) => apt.repositoryPackages(args.map(text), context),
});

export const list_repos: ModuleFunction<JobContext> = fn({
  doc: describe("Return the repositories by their address, those that are disabled among them.", "pkg.list_repos"),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  run: () => repositories.listRepositories(),
});

/** A personal archive's name as a line of sources. */
function archiveLine(repo: string, { grains }: JobContext, kwargs: ValueMap): string {
  const [, owner, name] = /^ppa:([^/]+)\/(.+)$/.exec(repo) ?? [];
  if (!repo.startsWith("ppa:")) return repo;
  if (!["Ubuntu", "Mint", "neon"].includes(text(grains.get("os") ?? ""))) {
    throw new CommandError(`cannot parse "ppa:" style repo definitions: ${repo}`);
  }
  if (owner === undefined) {
    throw new CommandError(
      'Unable to get PPA info from argument. Expected format "<PPA_OWNER>/<PPA_NAME>" (e.g. saltstack/salt) not found.  ' +
        `Received '${repo.slice(4)}' instead.`,
    );
  }
  const suite = text(grains.get("oscodename") ?? "");
  const auth = kwargs.get("ppa_auth");
  return truthy(auth)
    ? `deb https://${text(auth ?? "")}@private-ppa.launchpad.net/${owner}/${name}/ubuntu ${suite} main`
    : `deb http://ppa.launchpad.net/${owner}/${name}/ubuntu ${suite} main`;
}

export const get_repo: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a repository, named by the line that would define it; an empty map if it is not there.",
    'pkg.get_repo "deb http://deb.debian.org/debian trixie main"',
  ),
  permissions: "all",
  params: { repo: str() },
  varKwargs: "kwargs",
  run: ({ repo }, context, { kwargs }) =>
    repositories.getRepository(
      repo.startsWith("ppa:") ? archiveLine(repo, context, kwargs) : repo,
    ),
});

export const del_repo: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete a repository, named by the line that defines it, or some of its components. A file below sources.list.d that\n" +
      "had nothing else in it is removed. refresh=False leaves out reading the repositories.",
    'pkg.del_repo "deb http://deb.debian.org/debian trixie main"',
  ),
  permissions: "all",
  params: { repo: str() },
  varKwargs: "kwargs",
  async run({ repo }, context, { kwargs }) {
    const told = repositories.deleteRepository(archiveLine(repo, context, kwargs));
    if (isTrue(kwargs.get("refresh") ?? true)) await apt.refreshPackages(context);
    return told;
  },
});

export const mod_repo: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change a repository, or add it. repo is the line that defines it, and a personal archive of Ubuntu `ppa:owner/name`.\n" +
      "Return the repository by that name.\n\n" +
      "More keywords: architectures and comps (with commas between), disabled, enabled, file, comments, dist, type, trusted,\n" +
      "consolidate; keyid with keyserver, key_url or key_text for its key; refresh=False leaves out reading the repositories.",
    'pkg.mod_repo "deb http://deb.debian.org/debian trixie main" comps=main,contrib',
    'pkg.mod_repo "deb [signed-by=/etc/apt/keyrings/x.gpg] https://example.com/debian trixie main" file=/etc/apt/sources.list.d/x.list',
  ),
  permissions: "all",
  params: { repo: str(), saltenv: str("base"), aptkey: bool(true) },
  varKwargs: "kwargs",
  async run({ repo, saltenv, aptkey }, context, { kwargs }) {
    const options = new Map(ownKeywords(kwargs));
    const line = archiveLine(repo, context, options);
    if (line !== repo) await preparePersonalArchive(repo, context, options);
    const usesAptKey = aptkey && findProgram("apt-key") !== undefined;
    await importKey(line, { saltenv, aptkey: usesAptKey, options, context });
    repositories.changeRepository(line, { kwargs: options, needsKey: !usesAptKey });
    if (isTrue(kwargs.get("refresh_db") ?? kwargs.get("refresh") ?? true)) await apt.refreshPackages(context);
    return map({ [line]: repositories.getRepository(line) });
  },
});

/** Sets the file and the key's id of a personal archive. */
async function preparePersonalArchive(repo: string, { grains }: JobContext, options: ValueMap): Promise<void> {
  const [, owner, name] = /^ppa:([^/]+)\/(.+)$/.exec(repo) ?? [];
  const told = await personalArchive(owner, name);
  if (!options.has("file")) {
    options.set("file", `/etc/apt/sources.list.d/${owner}-${name}-${text(grains.get("oscodename") ?? "")}.list`);
  }
  if (options.has("ppa_auth") && told.get("private") !== true) {
    throw new CommandError(`PPA is not private but auth credentials passed: ${repo}`);
  }
  if (!options.has("keyid")) options.set("keyid", String(told.get("signing_key_fingerprint") ?? ""));
  if (!options.has("keyserver")) options.set("keyserver", "keyserver.ubuntu.com");
}

/** Imports the key that the keywords name. @throws {CommandError} If it cannot be had. */
async function importKey(
  line: string,
  { saltenv, aptkey, options, context }: {
    readonly saltenv: string;
    readonly aptkey: boolean;
    readonly options: ValueMap;
    readonly context: JobContext;
  },
): Promise<void> {
  const signedBy = /signed-by=([^\s\]]+)/.exec(line)?.[1];
  const keydir = signedBy === undefined ? null : signedBy.replace(/\/[^/]*$/, "");
  const keyfile = signedBy === undefined ? null : signedBy.slice(signedBy.lastIndexOf("/") + 1);
  const none: NewKey = { path: null, text: null, keyserver: null, keyid: null, saltenv, keyfile };
  const add = async (key: Partial<NewKey>, what: string) => {
    if (await addKey({ ...none, ...key }, { aptkey, keydir }, context)) return;
    throw new CommandError(`Error: Could not add key: ${what}`);
  };
  const [ids, server] = [options.get("keyid"), options.get("keyserver")];
  const [url, given] = [options.get("key_url"), options.get("key_text")];
  if (ids !== undefined) {
    if (!truthy(ids) || !truthy(server)) throw new InvocationError("both keyserver and keyid options required.");
    for (const id of (Array.isArray(ids) ? ids : [ids]).map(text)) {
      await add({ keyid: id, keyserver: text(server ?? "") }, id);
    }
  } else if (url !== undefined) await add({ path: text(url) }, text(url));
  else if (given !== undefined) await add({ text: text(given) }, text(given));
}

const KEY_PLACE = { aptkey: bool(true), keydir: str(null) };

export const get_repo_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the keys of the repositories by their ids: those of apt-key, or where there is none, or with aptkey=False, those\n" +
      "of the files in keydir, /etc/apt/keyrings by default.",
    "pkg.get_repo_keys",
  ),
  permissions: "all",
  params: KEY_PLACE,
  run: (place: KeyPlace, context) => listKeys(place, context),
});

export const add_repo_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a key for repositories: from a file or URL (path), as text, or by its id from a key server. Without apt-key it is\n" +
      "put into keydir, /etc/apt/keyrings by default, under the name keyfile. Return whether it is there.",
    "pkg.add_repo_key /root/key.gpg aptkey=False",
    "pkg.add_repo_key keyserver='keyserver.example' keyid='0000AAAA'",
  ),
  permissions: "all",
  params: {
    path: str(null),
    text: str(null),
    keyserver: str(null),
    keyid: str(null),
    saltenv: str("base"),
    aptkey: bool(true),
    keydir: str(null),
    keyfile: str(null),
  },
  run: ({ aptkey, keydir, ...key }, context) => addKey(key, { aptkey, keydir }, context),
});

export const del_repo_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete a key, named by keyid, or with keyid_ppa=True the key of the personal archive in name.",
    "pkg.del_repo_key keyid=0123ABCD",
    "pkg.del_repo_key name='ppa:foo/bar' keyid_ppa=True",
  ),
  permissions: "all",
  params: { name: str(null), ...KEY_PLACE },
  varKwargs: "kwargs",
  async run({ name, aptkey, keydir }, context, { kwargs }) {
    let keyid = kwargs.get("keyid");
    if (isTrue(kwargs.get("keyid_ppa"))) {
      const [, owner, archive] = /^ppa:([^/]+)\/(.+)$/.exec(name ?? "") ?? [];
      if (owner === undefined) throw new InvocationError("keyid_ppa requires that a PPA be passed");
      keyid = String((await personalArchive(owner, archive)).get("signing_key_fingerprint") ?? "").slice(-8);
    }
    if (keyid === undefined) throw new InvocationError("keyid or keyid_ppa and PPA name must be passed");
    return await deleteKey(text(keyid), { aptkey, keydir }, context);
  },
});

export const file_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the files of packages, of all without names, as one list. This takes a while for many packages.",
    "pkg.file_list httpd",
    "pkg.file_list httpd postfix",
  ),
  permissions: "all",
  params: {},
  varArgs: "packages",
  varKwargs: "kwargs",
  async run(_bound, context, { args }) {
    const files = await apt.packageFiles(args.map(text), context);
    return typeof files === "string" ? files : { errors: [], files: [...new Set([...files.values()].flat())].sort() };
  },
});

export const file_dict: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the files of packages, of all without names, by package.",
    "pkg.file_dict httpd",
    "pkg.file_dict httpd postfix",
  ),
  permissions: "all",
  params: {},
  varArgs: "packages",
  varKwargs: "kwargs",
  async run(_bound, context, { args }) {
    const files = await apt.packageFiles(args.map(text), context);
    return typeof files === "string" ? files : { errors: [], packages: new Map(files) };
  },
});

export const get_selections: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return dpkg's selections: packages by their state; with a pattern those it matches, with a state those in it.",
    "pkg.get_selections",
    "pkg.get_selections 'python-*'",
    "pkg.get_selections state=hold",
  ),
  permissions: "all",
  params: { pattern: str(null), state: str(null) },
  async run({ pattern, state }, context) {
    const states = await apt.selections(context, pattern ?? "*");
    return state ? map({ [state]: states.get(state) ?? [] }) : new Map(states);
  },
});

const STATES = ["install", "hold", "deinstall", "purge"];

export const set_selections: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set dpkg's selections: a map of lists of packages by state in selection, or a file as dpkg --get-selections prints it in\n" +
      "path. clear=True forgets all others first. Return what has changed.",
    `pkg.set_selections selection='{"install": ["netcat"]}'`,
    `pkg.set_selections selection='{"hold": ["openssh-server", "openssh-client"]}'`,
    "pkg.set_selections /path/to/file",
    "pkg.set_selections /path/to/file clear=True",
  ),
  permissions: "all",
  params: { path: str(null), selection: any(null), clear: bool(false), saltenv: str("base") },
  async run({ path, selection, clear, saltenv }, context) {
    if (!path && !truthy(selection)) return {};
    if (path && truthy(selection)) {
      throw new InvocationError(
        "The 'selection' and 'path' arguments to pkg.set_selections are mutually exclusive, and cannot be specified together",
      );
    }
    const wanted = path ? await selectionFile(path, saltenv, context) : selectionMap(selection);
    const bad = [...wanted.keys()].filter((state) => !STATES.includes(state));
    if (bad.length > 0) throw new InvocationError(`Invalid state(s): ${bad.join(", ")}`);
    if (isTrue(context.opts.extra.get("test"))) return {};
    if (clear) await apt.clearSelections(context);
    const changes: ValueMap = new Map();
    for (const [state, names] of wanted) {
      for (const [name, change] of await apt.select(state, names, context)) changes.set(name, change);
    }
    return changes;
  },
});

async function selectionFile(path: string, saltenv: string, context: JobContext): Promise<Map<string, string[]>> {
  const local = path.startsWith("/") ? path : text(await context.call("cp.cache_file", [path], map({ saltenv })));
  return parseSelections(await Deno.readTextFile(local));
}

function selectionMap(given: Value): Map<string, string[]> {
  const value = typeof given === "string" ? loadYaml(given) : given;
  if (!isMap(value)) throw new InvocationError(`Improperly-formatted selection: ${text(given)}`);
  return new Map(
    [...value].map(([state, names]) => [text(state), (Array.isArray(names) ? names : [names]).map(text)]),
  );
}

export const owner: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the package that a file belongs to, an empty text if it is nobody's; of several files a map.",
    "pkg.owner /usr/bin/apachectl",
    "pkg.owner /usr/bin/apachectl /usr/bin/basename",
  ),
  permissions: "all",
  params: {},
  varArgs: "paths",
  varKwargs: "kwargs",
  async run(_bound, context, { args }) {
    const owners: ValueMap = new Map();
    for (const path of args.map(text)) {
      const { stdout } = await runProgram(["dpkg", "-S", checkedWord(path, "path")], context);
      const name = stdout.split(":", 1)[0];
      owners.set(path, name.toLowerCase().includes("no path found") ? "" : name);
    }
    return owners.size === 0 ? "" : owners.size === 1 ? [...owners.values()][0] : owners;
  },
});

export const show: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what the repositories tell of packages, by name and version; filter keeps only those fields. refresh=True reads\n" +
      "the repositories first.",
    "pkg.show gawk",
    "pkg.show 'nginx' filter=description,maintainer",
  ),
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    refuseOthers(kwargs, ["refresh", "filter"]);
    await refreshed(kwargs, context, kwargs.get("refresh") ?? false);
    if (args.length === 0) return {};
    const filter = kwargs.get("filter");
    const wanted = filter === undefined ? [] : splitInput(filter).map((field) => field.toLowerCase());
    const names = args.map((name) => checkedWord(text(name), "package name"));
    return parseShow((await apt.runApt(["apt-cache", "show", ...names], context, { scope: false })).stdout, wanted);
  },
});

/** Salt's names of dpkg's fields. */
const INFO_NAMES: Readonly<Record<string, string>> = {
  package: "name",
  origin: "vendor",
  section: "group",
  maintainer: "packager",
  homepage: "url",
};

/** Fields that `pkg.info_installed` does not show. */
const NOT_SHOWN = [
  "status",
  "installed_size",
  "depends",
  "recommends",
  "provides",
  "replaces",
  "conflicts",
  "bugs",
  "task",
];

export const info_installed: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what dpkg knows of installed packages, of all without names. failhard=False leaves out unknown ones.",
    "pkg.info_installed <package1>",
    "pkg.info_installed <package1> <package2> <package3> ...",
    "pkg.info_installed <package1> failhard=false",
  ),
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    refuseOthers(kwargs, ["failhard"]);
    const failhard = isTrue(kwargs.get("failhard") ?? true);
    const shown: ValueMap = new Map();
    for (const info of await apt.packageInfo(args.map(text), context, failhard)) {
      const name = text(info.get("package") ?? "");
      if (text(info.get("status") ?? "ii")[1] !== "i") continue;
      const fields = [...info].filter(([key]) => !NOT_SHOWN.includes(text(key)));
      const licence = licenceOf(name);
      if (licence !== "") fields.push(["license", licence]);
      shown.set(name, new Map(fields.map(([key, value]) => [INFO_NAMES[text(key)] ?? key, value])));
    }
    return shown;
  },
});

function licenceOf(name: string): string {
  const path = `/usr/share/doc/${name}/copyright`;
  // Not every copyright file is UTF-8.
  return isAnything(path) ? parseLicences(new TextDecoder().decode(Deno.readFileSync(path))) : "";
}

export const list_downloaded: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the packages' files that apt has downloaded, by name and version; with root those below that directory.",
    "pkg.list_downloaded",
  ),
  permissions: "all",
  params: { root: str(null) },
  varKwargs: "kwargs",
  async run({ root }, context) {
    const found = new Map<string, ValueMap>();
    for (const path of debFiles(`${(root ?? "").replace(/\/+$/, "")}/var/cache/apt`)) {
      const { name, version } = await apt.archiveInfo(path, context);
      const { size, ctime, mtime } = Deno.statSync(path);
      const seconds = Math.floor((ctime ?? mtime ?? new Date(0)).getTime() / 1000);
      const versions = found.get(name) ?? new Map();
      versions.set(
        version,
        map({
          path,
          size,
          creation_date_time_t: seconds,
          creation_date_time: new Date(seconds * 1000).toISOString().slice(0, 19),
        }),
      );
      found.set(name, versions);
    }
    return new Map(found);
  },
});

function debFiles(directory: string): string[] {
  if (!isAnything(directory)) return [];
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory, isFile }) =>
    isDirectory ? debFiles(`${directory}/${name}`) : isFile && name.endsWith(".deb") ? [`${directory}/${name}`] : []
  );
}

export const services_need_restart: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the services that use files which an upgrade has replaced. It needs checkrestart, of the package debian-goodies.",
    "pkg.services_need_restart",
  ),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  async run(_bound, context) {
    if (findProgram("checkrestart") === undefined) {
      throw new CommandNotFoundError(
        "'checkrestart' is needed. It is part of the 'debian-goodies' package which can be installed from official repositories.",
      );
    }
    return parseServicesToRestart(await outputOf(["checkrestart", "--machine", "--package"], context));
  },
});

export const which: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the package that a file belongs to; None if it is nobody's, False if it is not there or its path is not absolute.",
    "pkg.which <file name>",
  ),
  permissions: "all",
  params: { path: str() },
  async run({ path }, context) {
    if (!path.startsWith("/") || !isAnything(path)) return false;
    const { retcode, stdout } = await runProgram(["dpkg", "-S", checkedWord(path, "path")], context);
    return retcode === 0 ? stdout.split(":", 1)[0] : null;
  },
});
