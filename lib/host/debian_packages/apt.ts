/**
 * Packages of Debian and its family: apt-get, apt-cache and dpkg. Functions that change packages return the changes,
 * from lists made before and after. Source: Salt 3008.3, `salt/modules/aptpkg.py`; apt-get(8), dpkg(1).
 * @module
 */

import { runApt } from "./run_apt.ts";
import { archiveInfo, select, selections } from "./dpkg.ts";
import { packagesOfStates } from "./packages_of_states.ts";
import { aptCache } from "./package_cache.ts";
import * as output from "./apt_output.ts";
import { changeFailure, changesBetween } from "#lib/host/packages/changes.ts";
import { compareDebianVersions } from "./debian_version.ts";
import { asVersions, type PackageVersions } from "#lib/host/packages/package_list.ts";
import { noteRefresh } from "#lib/host/packages/refresh_tag.ts";
import type { Targets } from "#lib/host/packages/package_targets.ts";
import { matchingVersion } from "#lib/host/packages/version_match.ts";
import { CommandError } from "#lib/errors.ts";
import { parseEnvironment } from "#lib/programs/command_environment.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Seconds that `apt-get update` may take by default. */
const REFRESH_SECONDS = 30;

/** The packages of this host. */
export async function debianPackages(context: JobContext): Promise<output.DebianPackages> {
  const answers = aptCache(context);
  const [own, cpu] = [context.grains.get("osarch"), context.grains.get("cpuarch")];
  const cached = answers.packages(`${str(own ?? "")} ${str(cpu ?? "")}`);
  if (cached.packages !== undefined) return cached.packages;
  const foreign = (architecture: string) =>
    cpu === "x86_64" && own === "amd64" && architecture !== "all" && architecture !== own;
  const words = ["dpkg-query", "--showformat", output.PACKAGES_FORMAT, "-W"];
  const { retcode, stdout } = await runProgram(words, context);
  const packages = output.parsePackages(stdout, foreign);
  if (retcode === 0) cached.packages = packages;
  return packages;
}

/** The installed packages and those marked to be purged, with their versions. */
export async function installedAptPackages(context: JobContext): Promise<PackageVersions> {
  const { installed, purgeDesired } = await debianPackages(context);
  return new Map([...purgeDesired, ...installed]);
}

async function installedVersions(context: JobContext): Promise<ValueMap> {
  return asVersions(await installedAptPackages(context), false);
}

/** A package's name without the host's own architecture. */
export function normalizeName(name: string, { grains }: JobContext): string {
  const { name: bare, arch } = parseArch(name);
  const own = grains.get("osarch");
  return arch === null || arch === own || arch === "all" || arch === "any" ? bare : name;
}

/** Name and architecture of `vim:amd64`. */
export function parseArch(name: string): { readonly name: string; readonly arch: string | null } {
  const colon = name.lastIndexOf(":");
  return colon < 0 ? { name, arch: null } : { name: name.slice(0, colon), arch: name.slice(colon + 1) };
}

/** Options of `apt-get update`. */
export interface RefreshOptions {
  /** Seconds for which previously read lists are valid. */
  readonly cacheValidTime?: Value;
  /** Whether a source that could not be read is an error. */
  readonly failhard?: boolean;
  /** Seconds. */
  readonly timeout?: Value;
}

/**
 * Reads the lists of the sources again.
 * @throws {CommandError} If apt-get fails.
 */
export async function refreshPackages(context: JobContext, options: RefreshOptions = {}): Promise<ValueMap> {
  noteRefresh(context.opts);
  const validSeconds = toNumber(options.cacheValidTime ?? 0) ?? 0;
  const read = validSeconds > 0 ? statIfExists("/var/lib/apt/lists")?.mtime : undefined;
  if (read !== undefined && read !== null && read.getTime() + validSeconds * 1000 > Date.now()) return new Map();
  const configured = context.opts.extra.get("aptpkg_refresh_db_timeout");
  const timeout = toNumber(options.timeout ?? configured ?? REFRESH_SECONDS) ?? REFRESH_SECONDS;
  let result = await runApt(["apt-get", "-q", "update"], context, { scope: false, timeout });
  if (result.stdout.includes("Timed out")) {
    await runApt(["apt-get", "-q", "clean"], context, { scope: false });
    result = await runApt(["apt-get", "-q", "update"], context, { scope: false });
  }
  if (result.retcode !== 0) throw new CommandError(result.stderr);
  const { sources, failed } = output.parseUpdate(result.stdout);
  if ([...sources.values()].includes(true)) aptCache(context).forget();
  if (options.failhard && failed.length > 0) throw new CommandError(`Error getting repos: ${failed.join(", ")}`);
  return sources;
}

/** The same if `refresh` is true, with the keyword `cache_valid_time`. */
export async function refreshIfAsked(kwargs: ValueMap, context: JobContext, refresh: Value): Promise<void> {
  if (isTrue(refresh)) await refreshPackages(context, { cacheValidTime: kwargs.get("cache_valid_time") });
}

/** Options of {@linkcode latestAptVersions}. */
export interface LatestOptions {
  /** The release to take versions from. */
  readonly fromrepo?: Value;
  /** Whether the candidate is included also if it is installed. */
  readonly showInstalled?: boolean;
}

/** The versions that an installation or upgrade would bring; an empty text if there is nothing newer. */
export async function latestAptVersions(
  names: readonly string[],
  context: JobContext,
  { fromrepo = null, showInstalled = false }: LatestOptions = {},
): Promise<Value> {
  const packages = await installedAptPackages(context);
  const candidates = await candidatesOf(names, { packages, release: fromrepo === null ? "" : str(fromrepo) }, context);
  const latest = (name: string): string => {
    const candidate = candidates.get(name) ?? "";
    const installed = packages.get(name) ?? [];
    if (installed.length === 0 || showInstalled || candidate === "") return candidate;
    return installed.some((version) => compareDebianVersions(version, candidate) >= 0) ? "" : candidate;
  };
  const versions = names.flatMap((name): [string, string][] => {
    if (candidates.has(name)) return [[name, latest(name)]];
    const others = [...candidates.keys()].filter((one) => one.startsWith(`${name}:`));
    return [
      [name, packages.has(name) ? "" : latest(name)],
      ...others.map((one): [string, string] => [one, latest(one)]),
    ];
  });
  // If a single name exists only for another architecture, the result is that package's version.
  const [only, other] = versions;
  if (names.length === 1 && versions.length === 2 && !candidates.has(only[0])) return other[1];
  return versions.length === 1 ? only[1] : new Map<Value, Value>(versions);
}

/**
 * The candidates of those packages and of others, from `apt-cache policy`. Each call reads the lists of all
 * sources. So one call asks for all packages that states of this run may need, and its answers are cached.
 */
async function candidatesOf(
  names: readonly string[],
  { packages, release }: { readonly packages: PackageVersions; readonly release: string },
  context: JobContext,
): Promise<ReadonlyMap<string, string>> {
  const cached = aptCache(context).candidates(release);
  const requested = names.map((name) => checkedWord(name, "package name")).filter((name) =>
    !cached.requested.has(name)
  );
  if (requested.length === 0) return cached.versions;
  const more = packagesOfStates(context, packages).filter((name) =>
    !cached.requested.has(name) && !requested.includes(name)
  );
  const options = release === "" ? [] : ["-o", `APT::Default-Release=${release}`];
  const ask = (them: readonly string[]) =>
    runApt(["apt-cache", "-q", "policy", ...them, ...options], context, { scope: false });
  const { retcode, stdout } = await ask([...requested, ...more]);
  if (retcode !== 0) {
    // It may be a name that was not requested before.
    const alone = more.length === 0 ? stdout : (await ask(requested)).stdout;
    return new Map([...cached.versions, ...output.parsePolicy(alone)]);
  }
  for (const name of [...requested, ...more]) cached.requested.add(name);
  for (const [name, version] of output.parsePolicy(stdout)) cached.versions.set(name, version);
  return cached.versions;
}

/**
 * The upgrades that `apt-get upgrade` or `dist-upgrade` would install.
 * @throws {CommandError} If apt-get fails.
 */
export async function upgradablePackages(
  context: JobContext,
  options: { readonly dist: boolean; readonly fromrepo?: Value },
): Promise<ValueMap> {
  const { fromrepo = null } = options;
  const release = fromrepo === null ? [] : ["-o", `APT::Default-Release=${str(fromrepo)}`];
  const words = ["apt-get", "--just-print", options.dist ? "dist-upgrade" : "upgrade", ...release];
  const { retcode, stdout, stderr } = await runApt(words, context);
  if (retcode === 0) return output.parseAptUpgrades(stdout);
  const reason = stderr || stdout;
  throw new CommandError(`Failed to get upgrades${reason === "" ? "" : `: ${reason}`}`);
}

/** Arguments of apt-get for keeping or replacing configuration files. */
function dpkgOptions(kwargs: ValueMap): string[] {
  const cached = isTrue(kwargs.get("force_conf_new")) ? ["--force-confnew"] : ["--force-confold", "--force-confdef"];
  return cached.flatMap((option) => ["-o", `DPkg::Options::=${option}`]);
}

function forceOptions(kwargs: ValueMap): string[] {
  return isTrue(kwargs.get("force_yes")) ? ["--force-yes"] : [];
}

/** Options of {@linkcode installAptPackages}. */
export interface InstallOptions {
  readonly fromrepo?: Value;
  readonly skipVerify?: boolean;
  readonly reinstall?: boolean;
  readonly downloadonly?: boolean;
  readonly ignoreEpoch?: boolean;
  /** More keywords of `pkg.install`. */
  readonly kwargs: ValueMap;
}

/** The arguments of apt-get for an installation. */
interface InstallPlan {
  readonly install: string[];
  readonly downgrade: string[];
  /** The words for apt, by the name of the package. */
  readonly reinstall: Map<string, string>;
  readonly errors: string[];
}

/**
 * Installs packages.
 * @returns The changes.
 * @throws {CommandError} With the changes that were made.
 */
export async function installAptPackages(
  targets: Targets,
  context: JobContext,
  options: InstallOptions,
): Promise<ValueMap> {
  const { kwargs, fromrepo = null } = options;
  const before = await installedVersions(context);
  const plan = await planInstall(targets, { before, context, options });
  const prefix = installPrefix(targets.kind, options);
  const down = targets.kind === "repository" && !prefix.includes("--force-yes") ? ["--force-yes"] : [];
  const commands = [
    ...plan.install.length > 0 ? [[...prefix, "install", ...plan.install]] : [],
    ...plan.downgrade.length > 0 ? [[...prefix, ...down, "install", ...plan.downgrade]] : [],
  ];
  if (options.downloadonly) commands.at(-1)?.push("--download-only");
  if (plan.reinstall.size > 0) {
    const again = targets.kind === "repository" ? ["--reinstall"] : [];
    commands.push([...prefix, "install", ...again, ...plan.reinstall.values()]);
  }
  if (commands.length > 0 && fromrepo !== null) context.log("info", `Targeting repo '${str(fromrepo)}'`);

  const errors = [...plan.errors];
  let changes: ValueMap = new Map();
  if (commands.length > 0) {
    const names = [...plan.install, ...plan.reinstall.keys()].map((word) => word.split("=", 1)[0]);
    const held = ((await selections(context)).get("hold") ?? []).filter((name) => names.includes(name));
    if (held.length > 0) await select("install", held, context);
    try {
      const env = parseEnvironment(kwargs.get("env") ?? null);
      for (const words of commands) {
        const { retcode, stderr } = await runApt(words, context, { env });
        if (retcode !== 0 && stderr !== "") errors.push(stderr);
      }
    } finally {
      if (held.length > 0) await select("hold", held, context);
    }
    const after = await installedVersions(context);
    changes = changesBetween(before, after);
    for (const name of plan.reinstall.keys()) {
      changes.set(name, map({ old: before.get(name) ?? "", new: after.get(name) ?? "" }));
    }
  }
  if (errors.length > 0) throw changeFailure("Problem encountered installing package(s)", { errors, changes });
  return changes;
}

function installPrefix(kind: Targets["kind"], { kwargs, fromrepo = null, skipVerify }: InstallOptions): string[] {
  const recommends = kwargs.has("install_recommends")
    ? [isTrue(kwargs.get("install_recommends")) ? "--install-recommends" : "--no-install-recommends"]
    : [];
  const release = kind === "repository" && fromrepo !== null && fromrepo !== ""
    ? ["-t", checkedWord(str(fromrepo), "release")]
    : [];
  return [
    "apt-get",
    "-q",
    "-y",
    ...forceOptions(kwargs),
    ...dpkgOptions(kwargs),
    ...recommends,
    ...isTrue(kwargs.get("only_upgrade")) ? ["--only-upgrade"] : [],
    ...skipVerify ? ["--allow-unauthenticated"] : [],
    ...release,
  ];
}

async function planInstall(
  targets: Targets,
  { before, context, options }: {
    readonly before: ValueMap;
    readonly context: JobContext;
    readonly options: InstallOptions;
  },
): Promise<InstallPlan> {
  const plan: InstallPlan = { install: [], downgrade: [], reinstall: new Map(), errors: [] };
  const put = (name: string, version: string, word: string) => {
    const old = str(before.get(name) ?? "");
    const order = old === "" ? 1 : compareDebianVersions(version, old);
    if (options.reinstall && old !== "" && order === 0) plan.reinstall.set(name, word);
    else if (order >= 0) plan.install.push(word);
    else plan.downgrade.push(word);
  };
  if (targets.kind === "file") {
    for (const path of targets.files.values()) {
      const { name, version } = await archiveInfo(path, context);
      put(name, version, path);
    }
    return plan;
  }
  const compared = [...targets.packages].filter(([, version]) => version !== null && /^[<>]/.test(version));
  const available = compared.length === 0
    ? new Map<Value, Value>()
    : await repositoryPackages(compared.map(([name]) => name), context);
  for (const [name, wanted] of targets.packages) {
    if (wanted === null || wanted === "") {
      if (options.reinstall && before.has(name)) plan.reinstall.set(name, name);
      else plan.install.push(name);
      continue;
    }
    let version: string | undefined = wanted.replace(/^=+/, "");
    if (compared.some(([one]) => one === name)) {
      const offered = available.get(name);
      const candidates = listOrEmpty(offered).map(str);
      const how = { order: compareDebianVersions, ignoreEpoch: options.ignoreEpoch };
      version = matchingVersion(version, candidates, how);
      if (version === undefined) {
        const choices = candidates.length === 0 ? "None" : candidates.join(", ");
        plan.errors.push(`No version matching '${name}${wanted}' could be found (available: ${choices})`);
        continue;
      }
    }
    put(name, version, `${name}=${version}`);
  }
  return plan;
}

/**
 * Removes or purges packages; a name may be a glob.
 * @returns The changes.
 */
export async function removeAptPackages(
  action: "remove" | "purge",
  targets: Targets,
  context: JobContext,
  env: Value,
): Promise<ValueMap> {
  const names = targets.kind === "repository" ? [...targets.packages.keys()] : [];
  const lists = async () => {
    const { installed, purgeDesired, removed } = await debianPackages(context);
    return {
      installed: asVersions(new Map([...purgeDesired, ...installed]), false),
      removed: asVersions(removed, false),
    };
  };
  const before = await lists();
  const chosen = new Set([
    ...selectNames(names, before.installed),
    ...action === "purge" ? selectNames(names, before.removed) : [],
  ]);
  if (chosen.size === 0) return new Map();
  const result = await runApt(["apt-get", "-q", "-y", action, ...chosen], context, { env: parseEnvironment(env) });
  const after = await lists();
  const installed = changesBetween(before.installed, after.installed);
  const changes = action === "remove"
    ? installed
    : map({ removed: changesBetween(before.removed, after.removed), installed });
  if (result.retcode !== 0 && result.stderr !== "") {
    throw changeFailure("Problem encountered removing package(s)", { errors: [result.stderr], changes });
  }
  return changes;
}

function selectNames(wanted: readonly string[], there: ValueMap): string[] {
  return wanted.flatMap((name) => {
    if (!name.includes("*")) return there.has(name) ? [name] : [];
    const matches = compileGlob(name);
    return [...there.keys()].map(str).filter(matches);
  });
}

/**
 * Removes packages that are not needed any more.
 * @returns The changes, or with `listOnly` the names.
 */
export async function autoremovePackages(
  context: JobContext,
  options: { readonly listOnly: boolean; readonly purge: boolean },
): Promise<Value> {
  const purge = options.purge ? ["--purge"] : [];
  if (options.listOnly) {
    const { stdout } = await runApt(["apt-get", "--assume-no", ...purge, "autoremove"], context);
    return output.parseAutoremove(stdout);
  }
  const before = await installedVersions(context);
  await runApt(["apt-get", "--assume-yes", ...purge, "autoremove"], context);
  return changesBetween(before, await installedVersions(context));
}

/**
 * Upgrades all packages.
 * @returns The changes.
 */
export async function upgradeAptPackages(
  context: JobContext,
  { dist, kwargs }: { readonly dist: boolean; readonly kwargs: ValueMap },
): Promise<ValueMap> {
  const before = await installedVersions(context);
  const has = (name: string) => isTrue(kwargs.get(name));
  const words = [
    "apt-get",
    "-q",
    "-y",
    ...dpkgOptions(kwargs),
    ...forceOptions(kwargs),
    ...has("skip_verify") ? ["--allow-unauthenticated"] : [],
    ...has("download_only") || has("downloadonly") ? ["--download-only"] : [],
    ...has("allow_downgrades") ? ["--allow-downgrades"] : [],
    dist ? "dist-upgrade" : "upgrade",
  ];
  const result = await runApt(words, context);
  const changes = changesBetween(before, await installedVersions(context));
  if (result.retcode === 0) return changes;
  throw changeFailure("Problem encountered upgrading packages", { changes, result: map({ ...result }) });
}

/** The packages of the named repositories, or of all, with all their versions. */
export async function repositoryPackages(names: readonly string[], context: JobContext): Promise<ValueMap> {
  const words = names.length === 0
    ? ["apt-cache", "dump"]
    : ["apt-cache", "show", ...names.map((name) => checkedWord(name, "package name"))];
  return output.parseRepositoryPackages((await runApt(words, context, { scope: false })).stdout);
}
