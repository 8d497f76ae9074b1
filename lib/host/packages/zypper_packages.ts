/**
 * Queries packages with zypper, and changes them. Source: Salt 3008.3, `salt/modules/zypperpkg.py`; zypper(8).
 * @module
 */

import { changeFailure, changesBetween } from "./changes.ts";
import type { Targets } from "./package_targets.ts";
import { noteRefresh } from "./refresh_tag.ts";
import { formatRpms, installedRpms, rpmWords } from "./rpm.ts";
import { splitComparison } from "./version_match.ts";
import { attributesOf, runZypper, SUCCESSES, zypperXml } from "./zypper.ts";
import * as output from "./zypper_output.ts";
import { belowRoot } from "./zypper_repositories.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { asList } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Maximum number of names for one call of zypper. */
const BATCH = 500;
const INFO_BATCH = 200;

/**
 * Reads the package lists of the repositories again.
 * @returns For each repository whether it was read.
 * @throws {CommandError}
 */
export async function refreshZypper(kwargs: ValueMap, context: JobContext): Promise<ValueMap> {
  noteRefresh(context.opts);
  const settings = context.pillar.get("zypper");
  const configured = isMap(settings) ? settings.get("refreshdb_force") ?? true : true;
  const value = kwargs.get("repos") ?? [];
  const words = [
    ...truthy(kwargs.get("gpgautoimport")) ? ["--gpg-auto-import-keys"] : [],
    "refresh",
    ...truthy(kwargs.get("force") ?? configured) ? ["--force"] : [],
    ...asList(value).map((one) => checkedWord(str(one), "repository")),
  ];
  const run = { root: kwargs.get("root"), refreshes: true, successes: [0, 6] };
  return output.parseZypperRefresh((await runZypper(words, context, run)).stdout);
}

/** The packages of the repositories, by name, with zypper's data. */
export async function availableInfo(
  names: readonly string[],
  root: Value | undefined,
  context: JobContext,
): Promise<Map<string, ValueMap>> {
  const sorted = [...new Set(names)].sort().map((name) => checkedWord(name, "package name"));
  const packages = new Map<string, ValueMap>();
  for (let at = 0; at < sorted.length; at += INFO_BATCH) {
    const words = ["info", "-t", "package", ...sorted.slice(at, at + INFO_BATCH)];
    const { stdout } = await runZypper(words, context, { root, readsOnly: true });
    for (const [name, fields] of output.parseZypperInfo(stdout)) packages.set(name, fields);
  }
  return packages;
}

/** Options of `zypper search` by Salt's keywords. */
const SEARCH_OPTIONS: Readonly<Record<string, string>> = {
  provides: "--provides",
  recommends: "--recommends",
  requires: "--requires",
  suggests: "--suggests",
  conflicts: "--conflicts",
  obsoletes: "--obsoletes",
  file_list: "--file-list",
  search_descriptions: "--search-descriptions",
  case_sensitive: "--case-sensitive",
  installed_only: "--installed-only",
  not_installed_only: "-u",
  details: "--details",
};

/**
 * The matching packages by name, with their attributes.
 * @throws {CommandError} If there are none.
 */
export async function searchPackages(criteria: string, kwargs: ValueMap, context: JobContext): Promise<ValueMap> {
  const match = kwargs.get("match");
  const how = ["exact", "words", "substrings"].find((one) => one === match);
  const options = [...kwargs.keys()].map(str).filter((key) => Object.hasOwn(SEARCH_OPTIONS, key));
  const words = [
    "search",
    ...how === undefined ? [] : [`--match-${how}`],
    ...options.map((key) => SEARCH_OPTIONS[key]),
    checkedWord(criteria, "search term"),
  ];
  const run = { root: kwargs.get("root"), readsOnly: true, soft: true };
  const solvables = attributesOf(await zypperXml(words, context, run), "solvable");
  if (solvables.length === 0) throw new CommandError(`No packages found matching '${criteria}'`);
  return new Map(solvables.map((one): [Value, Value] => [one.get("name") ?? "", new Map(one)]));
}

/** The installed products, or with `all` all available ones. */
export async function listProducts(all: boolean, root: Value | undefined, context: JobContext): Promise<ValueMap[]> {
  const words = all ? ["products"] : ["--disable-repositories", "products", "-i"];
  const document = await zypperXml(words, context, { root, readsOnly: true });
  const directory = belowRoot("/var/lib/suseRegister/OEM", root);
  return output.productsOf(document, (line) => {
    if (!/^[\w.-]+$/.test(line)) return undefined;
    return readTextFileIfExists(`${directory}/${line}`)?.split("\n")[0].trim() || undefined;
  });
}

/** Patterns or patches by name. */
export async function listSolvables(
  kind: "pattern" | "patch",
  root: Value | undefined,
  context: JobContext,
): Promise<ReturnType<typeof output.solvablesOf>> {
  return output.solvablesOf(await zypperXml(["se", "-t", kind], context, { root, readsOnly: true }));
}

/** The patterns that are installed, also those that are not shown. */
export async function installedPatterns(
  root: Value | undefined,
  context: JobContext,
): Promise<ReturnType<typeof output.solvablesOf>> {
  const words = rpmWords(root, "-q", "--provides", "--whatprovides", "pattern()");
  const { stdout } = await runProgram(words, context, { joined: true });
  const names = stdout.split("\n").filter((line) => line.startsWith("pattern() = ")).map((line) =>
    line.slice(line.lastIndexOf("=") + 1).trim()
  );
  const patterns = new Map([...await listSolvables("pattern", root, context)].filter(([, { installed }]) => installed));
  for (const name of names.filter((one) => !one.startsWith(".") && !patterns.has(one))) {
    patterns.set(name, { installed: true, summary: "Non-visible pattern" });
  }
  return patterns;
}

/** The other entries of a list of packages. */
const INCLUDED = ["product", "pattern", "patch"];

/** Options for listing packages. */
export interface ZypperListOptions {
  readonly root?: Value;
  readonly asList?: boolean;
  readonly attr?: Value;
  /** Also products, patterns or patches, as `pattern:name`. */
  readonly includes?: readonly string[];
}

/** The installed packages, without the keys of packagers. */
export async function listInstalled(
  { root, asList = false, attr, includes = [] }: ZypperListOptions,
  context: JobContext,
): Promise<ValueMap> {
  const all = await installedRpms(context, { root, checked: true });
  const packages = new Map([...all].filter(([name]) => !name.startsWith("gpg-pubkey")));
  for (const kind of includes.filter((one) => INCLUDED.includes(one))) {
    for (const { name, version, arch } of await includedParts(kind, root, context)) {
      const info = { name, version, arch, repoid: "", install_date: null, install_date_time_t: null };
      packages.set(name, [info]);
    }
  }
  return formatRpms(packages, { asList, attr });
}

async function includedParts(
  kind: string,
  root: Value | undefined,
  context: JobContext,
): Promise<{ readonly name: string; readonly version: string; readonly arch: string }[]> {
  const field = (fields: ValueMap | undefined, key: string) => str(fields?.get(key) ?? "");
  if (kind === "product") {
    return (await listProducts(false, root, context)).map((one) => {
      const epoch = field(one, "epoch");
      const full = `${field(one, "version")}-${field(one, "release")}`;
      const version = epoch === "" ? full : `${epoch}:${full}`;
      return { name: `product:${field(one, "name")}`, version, arch: field(one, "arch") };
    });
  }
  const names = kind === "pattern"
    ? [...(await installedPatterns(root, context)).keys()]
    : [...await listSolvables("patch", root, context)].filter(([, { installed }]) => installed).map(([name]) => name);
  const parts = [];
  for (const name of names) {
    const info = (await availableInfo([`${kind}:${name}`], root, context)).get(name);
    parts.push({ name: `${kind}:${name}`, version: field(info, "version"), arch: field(info, "arch") });
  }
  return parts;
}

/** The kinds in names as `pattern:base`. */
export function kindsOf(names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => name.includes(":")).map((name) => name.slice(0, name.indexOf(":"))))]
    .sort();
}

/** The newest version that matches a glob, with its operator; `undefined` if there is none. */
async function newestOf(
  name: string,
  version: string,
  root: Value | undefined,
  context: JobContext,
): Promise<string | undefined> {
  const glob = version.replace(/[<>=+]*/g, "");
  const operator = version.replace(glob, "");
  if (operator !== "" && !["<", "<=", "=", ">=", ">"].includes(operator)) {
    throw new CommandError(`Zypper do not supports operator "${operator}".`);
  }
  const document = await zypperXml(["se", "-xv", checkedWord(name, "package name")], context, {
    root,
    readsOnly: true,
  });
  const solvables = attributesOf(document, "solvable");
  if (solvables.length === 0) throw new CommandError(`No packages found matching '${name}'`);
  const versions = [...new Set(solvables.map((one) => one.get("edition") ?? ""))].filter((one) => one !== "");
  const newest = versions.filter(compileGlob(glob)).sort(compareLooseVersions).at(-1);
  return newest === undefined ? undefined : `${operator}${newest}`;
}

/** The targets of an installation: packages, or advisories by their ids. */
export type ZypperTargets = Targets | { readonly kind: "advisory"; readonly ids: readonly string[] };

/** Options for installing packages. */
export interface ZypperInstall {
  readonly name: string | null;
  /** The version of the single named package; may be a glob. */
  readonly version: string | null;
  /** Whether lists of packages were given, so that `version` does not count. */
  readonly hasLists: boolean;
  readonly refresh: boolean;
  readonly fromrepo: string | null;
  readonly downloadonly: boolean;
  readonly skipVerify: boolean;
  readonly ignoreRepoFailure: boolean;
  readonly noRecommends: boolean;
  readonly byCapability: boolean;
  readonly root: Value;
  readonly attr: Value;
  /** The files of packages that were downloaded. */
  downloaded(): Promise<ValueMap>;
}

async function targetWords(targets: ZypperTargets, how: ZypperInstall, context: JobContext): Promise<string[]> {
  const { name, version, root } = how;
  const newest = name && version ? await newestOf(name, version, root, context) : undefined;
  if (targets.kind === "file") return [...targets.files.values()];
  if (targets.kind === "advisory") {
    const patches = await listSolvables("patch", root, context);
    const unknown = targets.ids.find((id) => !patches.has(id));
    if (unknown !== undefined) throw new CommandError(`Advisory id "${unknown}" not found`);
    return targets.ids.map((id) => `patch:${id}`);
  }
  const packages = newest !== undefined && name && !how.hasLists ? new Map([[name, newest]]) : targets.packages;
  return [...packages].map(([one, wanted]) => {
    if (wanted === null) return one;
    const [operator, bare] = splitComparison(wanted);
    return `${one}${operator || "="}${bare}`;
  });
}

/**
 * Installs packages.
 * @returns The changes.
 * @throws {CommandError} If zypper fails.
 */
export async function installZypperPackages(
  targets: ZypperTargets,
  how: ZypperInstall,
  context: JobContext,
): Promise<ValueMap> {
  const { root, attr } = how;
  const words = await targetWords(targets, how, context);
  const includes = targets.kind === "advisory" ? [] : kindsOf(words);
  const list = () => how.downloadonly ? how.downloaded() : listInstalled({ root, attr, includes }, context);
  const before = await list();
  const command = [
    ...how.skipVerify ? ["--no-gpg-checks"] : [],
    ...how.refresh ? [] : ["--no-refresh"],
    "install",
    "--auto-agree-with-licenses",
    how.byCapability ? "--capability" : "--name",
    ...how.downloadonly ? ["--download-only"] : [],
    ...how.fromrepo ? ["--force", "--force-resolution", "--from", checkedWord(how.fromrepo, "repository")] : [],
    ...how.noRecommends ? ["--no-recommends"] : [],
  ];
  const run = { root, scope: true, soft: how.ignoreRepoFailure };
  const older: string[] = [];
  for (let at = 0; at < words.length; at += BATCH) {
    const { stdout } = await runZypper([...command, ...words.slice(at, at + BATCH)], context, run);
    older.push(...[...stdout.matchAll(/^The selected package '([^']+)'.+has lower version/gm)].map(([, one]) => one));
  }
  for (let at = 0; at < older.length; at += BATCH) {
    await runZypper([...command, "--force", ...older.slice(at, at + BATCH)], context, { ...run, scope: false });
  }
  return changesBetween(before, await list());
}

/**
 * Upgrades packages.
 * @param words The arguments of zypper.
 * @returns The changes, or with `dryrun` the output of zypper.
 */
export async function upgradeZypperPackages(
  words: readonly string[],
  { root, attr, dryrun }: { readonly root: Value; readonly attr: Value; readonly dryrun: boolean },
  context: JobContext,
): Promise<Value> {
  const before = await listInstalled({ root, attr }, context);
  const result = await runZypper(words, context, { root, scope: true, soft: true });
  const changes = changesBetween(before, await listInstalled({ root, attr }, context));
  if (!SUCCESSES.includes(result.retcode)) {
    const { retcode, stdout, stderr, pid } = result;
    const info = map({ retcode, stdout, stderr, pid });
    throw changeFailure("Problem encountered upgrading packages", { changes, result: info });
  }
  return dryrun ? `${result.stdout}\n${result.stderr}`.trim() : changes;
}

/** The temporary fixes (PTFs), which are removed by their own command. */
async function temporaryFixes(
  names: readonly string[],
  root: Value | undefined,
  context: JobContext,
): Promise<string[]> {
  const words = rpmWords(root, "-q", "--qf", "%{NAME}: [%{PROVIDES} ]\n", ...names);
  const { stdout } = await runProgram(words, context, { joined: true });
  return stdout.split("\n").flatMap((line) => {
    const [, name, provides] = /^([^:]*):(.*)$/.exec(line) ?? [];
    return provides?.includes("ptf()") ? [name] : [];
  });
}

/**
 * Removes packages.
 * @returns The changes.
 */
export async function removeZypperPackages(targets: Targets, root: Value, context: JobContext): Promise<ValueMap> {
  const packages = targets.kind === "repository" ? targets.packages : new Map<string, string | null>();
  const names = [...packages.keys()];
  const fixes = await temporaryFixes(names, root, context);
  const includes = kindsOf(names);
  const before = await listInstalled({ root, includes }, context);
  const words = [...packages].filter(([name]) => !fixes.includes(name) && before.has(name)).flatMap(
    ([name, version]) => {
      if (version === null || version === "") return [name];
      return str(before.get(name) ?? "").split(",").includes(version) ? [`${name}-${version}`] : [];
    },
  );
  if (words.length === 0 && fixes.length === 0) return new Map();
  for (let at = 0; at < words.length; at += BATCH) {
    await runZypper(["remove", ...words.slice(at, at + BATCH)], context, { root, scope: true });
  }
  for (let at = 0; at < fixes.length; at += BATCH) {
    const batch = fixes.slice(at, at + BATCH);
    await runZypper(["removeptf", "--allow-downgrade", ...batch], context, { root, scope: true });
  }
  return changesBetween(before, await listInstalled({ root, includes }, context));
}
