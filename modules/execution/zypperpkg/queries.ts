/**
 * The functions of the module `pkg` of zypper that tell of packages, patterns, patches, products and repositories.
 * Source: the functions of Salt 3008.3 `salt/modules/zypperpkg.py`.
 * @module
 */

import { availableVersion, upgradeAvailable } from "#modules/execution/_pkg_functions.ts";
import { ofNames } from "#modules/execution/_rpm_declarations.ts";
import { diffPackageFiles, downloadedPackages } from "#lib/host/packages/rpm_files.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { OfferedPackages } from "#lib/host/packages/offered_packages.ts";
import { rpmWords, runRpm } from "#lib/host/packages/rpm.ts";
import { attributesOf, runZypper, zypperXml } from "#lib/host/packages/zypper.ts";
import { downloadsOf, parseProvides } from "#lib/host/packages/zypper_output.ts";
import * as zypper from "#lib/host/packages/zypper_packages.ts";
import * as repositories from "#lib/host/packages/zypper_repositories.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { asList } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const ROOT = { root: p.str(null) };

/** The keywords with the root. */
function within(root: Value, kwargs: ValueMap = new Map()): ValueMap {
  return new Map([...kwargs, ["root", root]]);
}

export const list_upgrades: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the packages that an upgrade would bring, with their new versions. fromrepo: only of these repositories.",
    "pkg.list_upgrades",
  ),
  permissions: "all",
  params: { refresh: p.bool(true), ...ROOT },
  varKwargs: "kwargs",
  async run({ refresh, root }, context, { kwargs }) {
    if (refresh) await zypper.refreshZypper(within(root, kwargs), context);
    const given = kwargs.get("fromrepo") ?? null;
    const from = given === null ? [] : asList(given).flatMap((one) => ["--repo", str(one)]);
    const document = await zypperXml(["list-updates", ...from], context, { root, readsOnly: true });
    const updates = attributesOf(document, "update").filter((one) => one.get("kind") === "package");
    return new Map(updates.map((one) => [one.get("name") ?? "", one.get("edition") ?? ""]));
  },
});

export const list_updates: ModuleFunction<JobContext> = {
  ...list_upgrades,
  doc: describe("The same as pkg.list_upgrades.", "pkg.list_updates"),
};

async function infoAvailable(names: readonly string[], kwargs: ValueMap, context: JobContext) {
  if (names.length === 0) return new Map<string, ValueMap>();
  if (truthy(kwargs.get("refresh") ?? true)) await zypper.refreshZypper(kwargs, context);
  return await zypper.availableInfo(names, kwargs.get("root"), context);
}

export const info_available: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return what the repositories tell of packages, by name. refresh=False leaves out reading them anew.",
    "pkg.info_available <package1>",
    "pkg.info_available <package1> <package2> <package3> ...",
  ),
  infoAvailable,
  { varArgs: "names" },
);

async function latest(given: readonly string[], kwargs: ValueMap, context: JobContext): Promise<Value> {
  const names = [...new Set(given)].sort();
  const info = await infoAvailable(names, kwargs, context);
  const newest = (name: string): Value => {
    const status = str(info.get(name)?.get("status") ?? "").toLowerCase();
    const isNewer = status.includes("not installed") || status.includes("out-of-date");
    return isNewer ? info.get(name)?.get("version") ?? null : "";
  };
  return names.length === 1 ? newest(names[0]) : new Map(names.map((name) => [name, newest(name)]));
}

export const latest_version: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the version of a package that an installation or upgrade would bring, and an empty string if the newest is\n" +
      "installed or there is none; for several packages, a map. refresh=False does not update the package lists first.",
    "pkg.latest_version <package name>",
    "pkg.latest_version <package1> <package2> <package3> ...",
  ),
  latest,
  { varArgs: "names" },
);

export const available_version: ModuleFunction<JobContext> = availableVersion(latest_version);

export const upgrade_available: ModuleFunction<JobContext> = upgradeAvailable((name, context, kwargs) =>
  latest([name], kwargs, context)
);

export const list_repo_pkgs: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return the packages that the repositories offer, all or those that match, each with its versions; with byrepo=True by\n" +
      "repository. More keywords: fromrepo.",
    "pkg.list_repo_pkgs",
    "pkg.list_repo_pkgs 'python2-*' byrepo=True",
  ),
  async (globs, kwargs, context) => {
    const from = kwargs.get("fromrepo") ?? null;
    const offered = new OfferedPackages();
    const words = ["se", "-s", ...globs.map((glob) => checkedWord(glob, "package name"))];
    for (const one of attributesOf(await zypperXml(words, context, { root: kwargs.get("root") }), "solvable")) {
      const [repository, name, version] = ["repository", "name", "edition"].map((key) => one.get(key));
      if (one.get("kind") !== "package" || !repository || !name || !version) continue;
      if (truthy(from) && repository !== from) continue;
      if (globs.length === 0 || globs.some((glob) => compileGlob(glob)(name))) offered.add(repository, name, version);
    }
    return isTrue(kwargs.get("byrepo")) ? offered.byRepository() : offered.byName();
  },
  { varArgs: "args" },
);

export const search: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what matches, by name, with its attributes. match: exact, words or substrings. More keywords are options of zypper\n" +
      "search: provides, recommends, requires, suggests, conflicts, obsoletes, file_list, search_descriptions,\n" +
      "case_sensitive, installed_only, not_installed_only, details.",
    "pkg.search <criteria>",
  ),
  permissions: "all",
  params: { criteria: p.str(), refresh: p.bool(false) },
  varKwargs: "kwargs",
  async run({ criteria, refresh }, context, { kwargs }) {
    if (refresh) await zypper.refreshZypper(kwargs, context);
    return await zypper.searchPackages(criteria, kwargs, context);
  },
});

export const list_patterns: ModuleFunction<JobContext> = fn({
  doc: describe("Return the patterns that are shown, with whether they are installed.", "pkg.list_patterns"),
  permissions: "all",
  params: { refresh: p.bool(false), ...ROOT },
  async run({ refresh, root }, context) {
    if (refresh) await zypper.refreshZypper(within(root), context);
    return await zypper.listSolvables("pattern", root, context);
  },
});

export const list_installed_patterns: ModuleFunction<JobContext> = fn({
  doc: describe("Return the patterns that are installed.", "pkg.list_installed_patterns"),
  permissions: "all",
  params: ROOT,
  run: ({ root }, context) => zypper.installedPatterns(root, context),
});

export const list_patches: ModuleFunction<JobContext> = fn({
  doc: describe("Return the patches, with whether they are installed.", "pkg.list_patches"),
  permissions: "all",
  params: { refresh: p.bool(false), ...ROOT },
  varKwargs: "kwargs",
  async run({ refresh, root }, context, { kwargs }) {
    if (refresh) await zypper.refreshZypper(within(root, kwargs), context);
    return await zypper.listSolvables("patch", root, context);
  },
});

export const list_installed_patches: ModuleFunction<JobContext> = fn({
  doc: describe("Return the patches that are installed.", "pkg.list_installed_patches"),
  permissions: "all",
  params: ROOT,
  varKwargs: "kwargs",
  run: async ({ root }, context) =>
    new Map([...await zypper.listSolvables("patch", root, context)].filter(([, { installed }]) => installed)),
});

export const list_products: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed products, with all=True those of the repositories too.",
    "pkg.list_products",
    "pkg.list_products all=True",
  ),
  permissions: "all",
  params: { all: p.bool(false), refresh: p.bool(false), ...ROOT },
  async run({ all, refresh, root }, context) {
    if (refresh) await zypper.refreshZypper(within(root), context);
    return await zypper.listProducts(all, root, context);
  },
});

export const list_provides: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the packages by the capabilities that they provide, without their own names.",
    "pkg.list_provides",
  ),
  permissions: "all",
  params: ROOT,
  varKwargs: "kwargs",
  async run({ root }, context) {
    const words = rpmWords(root, "-qa", "--queryformat", "%{PROVIDES}_|-%{NAME}\n");
    return parseProvides((await runRpm(words, context, { joined: true, setsRetcode: true })).stdout);
  },
});

export const resolve_capabilities: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return package names; with resolve_capabilities=True, capabilities are replaced by the packages that provide them.",
    "pkg.resolve_capabilities resolve_capabilities=True w3m_ssl",
  ),
  permissions: "all",
  params: { pkgs: p.any(), refresh: p.bool(false), ...ROOT },
  varKwargs: "kwargs",
  async run({ pkgs, refresh, root }, context, { kwargs }) {
    if (refresh) await zypper.refreshZypper(within(root, kwargs), context);
    const resolves = truthy(kwargs.get("resolve_capabilities"));
    const resolved: Value[] = [];
    for (const one of asList(pkgs)) {
      const [given, version] = isMap(one) ? [...one][0] ?? ["", null] : [one, null];
      const name = resolves ? await providerOf(str(given), root, context) : str(given);
      resolved.push(truthy(version) ? map({ [name]: version }) : name);
    }
    return resolved;
  },
});

/** The package of that name, or the only one that provides it. */
async function providerOf(name: string, root: Value, context: JobContext): Promise<string> {
  const find = async (more: Readonly<Record<string, Value>>): Promise<string[]> => {
    try {
      const kwargs = new Map<Value, Value>([...Object.entries(more), ["root", root], ["match", "exact"]]);
      return [...(await zypper.searchPackages(name, kwargs, context)).keys()].map(str);
    } catch (error) {
      if (error instanceof CommandError) return [];
      throw error;
    }
  };
  if ((await find({})).length > 0) return name;
  const providers = await find({ provides: true });
  if (providers.length > 1) context.log("warning", `Found ambiguous match for capability '${name}'.`);
  return providers.length === 1 ? providers[0] : name;
}

export const list_downloaded: ModuleFunction<JobContext> = fn({
  doc: describe("Return the packages' files that were downloaded, by name and version.", "pkg.list_downloaded"),
  permissions: "all",
  params: ROOT,
  varKwargs: "kwargs",
  run: ({ root }, context) => downloadedPackages(repositories.belowRoot("/var/cache/zypp/packages", root), context),
});

async function downloadPackages(given: readonly string[], root: Value, context: JobContext): Promise<ValueMap> {
  const words = ["download", ...given.map((name) => checkedWord(name, "package name"))];
  const packages: ValueMap = new Map();
  for (const { name, info } of downloadsOf(await zypperXml(words, context, { root }))) {
    const check = rpmWords(root, "-K", "--quiet", str(info.get("path") ?? ""));
    if ((await runProgram(check, context)).retcode === 0) packages.set(name, info);
  }
  if (packages.size === 0) throw new CommandError(`Unable to download packages: ${given.join(", ")}`);
  const failed = given.filter((name) => !packages.has(name));
  if (failed.length > 0) packages.set("_error", `The following package(s) failed to download: ${failed.join(", ")}`);
  return packages;
}

export const download: ModuleFunction<JobContext> = ofNames(
  describe(
    "Download packages, and return for each the repository and the file.",
    "pkg.download httpd",
    "pkg.download httpd postfix",
  ),
  async (given, kwargs, context) => {
    if (given.length === 0) throw new InvocationError("No packages specified");
    if (truthy(kwargs.get("refresh"))) await zypper.refreshZypper(kwargs, context);
    return await downloadPackages(given, kwargs.get("root") ?? null, context);
  },
);

export const diff: ModuleFunction<JobContext> = ofNames(
  describe(
    "Return how files differ from those in their packages, which are downloaded for it.",
    "pkg.diff /etc/apache2/httpd.conf /etc/sudoers",
  ),
  (paths, kwargs, context) => {
    const root = kwargs.get("root") ?? null;
    return diffPackageFiles(paths, root, { download: (names) => downloadPackages(names, root, context), context });
  },
  { varArgs: "paths" },
);

export const services_need_restart: ModuleFunction<JobContext> = fn({
  doc: describe("Return the services that still use files replaced by an upgrade.", "pkg.services_need_restart"),
  permissions: "all",
  params: ROOT,
  varKwargs: "kwargs",
  async run({ root }, context) {
    const { stdout } = await runZypper(["ps", "-sss"], context, { root, readsOnly: true });
    return splitWhitespace(stdout);
  },
});

export const list_repos: ModuleFunction<JobContext> = fn({
  doc: describe("Return the repositories by alias, with their options.", "pkg.list_repos"),
  permissions: "all",
  params: ROOT,
  varKwargs: "kwargs",
  run: ({ root }) => repositories.listZypperRepositories(root),
});

export const get_repo: ModuleFunction<JobContext> = fn({
  doc: describe("Return a repository, an empty map if it is not there.", "pkg.get_repo alias"),
  permissions: "all",
  params: { repo: p.str(), ...ROOT },
  varKwargs: "kwargs",
  run: ({ repo, root }) => repositories.listZypperRepositories(root).get(repo) ?? {},
});

export const del_repo: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a repository.", "pkg.del_repo alias"),
  permissions: "all",
  params: { repo: p.str(), ...ROOT },
  run: ({ repo, root }, context) => repositories.deleteZypperRepository(repo, root, context),
});

export const mod_repo: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change a repository, or add it with url, baseurl or mirrorlist, and return it. Keywords: enabled, refresh, cache,\n" +
      "gpgcheck, gpgautoimport, priority, name.",
    "pkg.mod_repo alias alias=new_alias",
    "pkg.mod_repo alias url= mirrorlist=http://host.com/",
  ),
  permissions: "all",
  params: { repo: p.str() },
  varKwargs: "kwargs",
  run({ repo }, context, { kwargs }) {
    const refresh = () => zypper.refreshZypper(new Map([...kwargs, ["repos", repo]]), context);
    return repositories.changeZypperRepository(repo, kwargs, { refresh, context });
  },
});
