/**
 * Installs, upgrades and removes packages with yum or dnf, and returns the changes, from lists made before and after.
 * Source: Salt 3008.3, `salt/modules/yumpkg.py`.
 * @module
 */

import { changeFailure, changesBetween } from "./changes.ts";
import { holdPackages, unholdPackages } from "./yum_holds.ts";
import type { Targets } from "./package_targets.ts";
import { ARCHITECTURES } from "./rpm_architectures.ts";
import { formatRpms, installedRpms, ownArchitecture, packageFileInfo, type RpmPackages } from "./rpm.ts";
import { rpmOrder } from "./rpm_version.ts";
import { matchingVersion } from "./version_match.ts";
import { heldPackages, requireVersionlock, runYum, yumOptions, yumProgram } from "./yum.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The targets of an installation: packages, or advisories by their ids. */
export type YumTargets = Targets | { readonly kind: "advisory"; readonly ids: readonly string[] };

/** Options of the installation. */
export interface YumInstallOptions {
  readonly skipVerify: boolean;
  readonly downloadonly: boolean;
  readonly reinstall: boolean;
  readonly updateHolds: boolean;
  readonly ignoreEpoch: boolean;
  /** More keywords of `pkg.install`. */
  readonly kwargs: ValueMap;
  /** The versions of packages in the repositories. */
  available(names: readonly string[]): Promise<ReadonlyMap<Value, Value>>;
  /** The advisories by their ids. */
  advisories(): Promise<ReadonlyMap<string, unknown>>;
  /** The files of packages that were downloaded. */
  downloaded(): Promise<ValueMap>;
}

/** A package's name, and the word for yum. */
type Target = readonly [name: string, word: string];

/** The plan of an installation. */
interface Plan {
  readonly install: Target[];
  readonly downgrade: Target[];
  readonly reinstall: Target[];
  readonly errors: string[];
}

/** One requested version of a package. */
interface Wanted {
  readonly name: string;
  readonly word: string;
  readonly version: string;
}

/** Adds a package to the plan: it is installed, reinstalled or downgraded. */
function sortTarget({ name, word, version }: Wanted, plan: Plan, { installed, options }: {
  readonly installed: readonly string[];
  readonly options: YumInstallOptions;
}): void {
  const order = rpmOrder(options.ignoreEpoch);
  if (options.reinstall && installed.length > 0) {
    if (installed.some((one) => order(version, one) === 0)) plan.reinstall.push([name, word]);
  } else if (installed.length === 0 || installed.some((one) => order(version, one) >= 0)) {
    plan.install.push([name, word]);
  } else if (/^kernel(|-devel)$/.test(name)) plan.install.push([name, word]);
  else plan.downgrade.push([name, word]);
}

function joinCandidates(candidates: readonly string[], none: string): string {
  return candidates.length === 0 ? none : candidates.join(", ");
}

async function planInstall(
  targets: YumTargets,
  { before, options, context }: {
    readonly before: RpmPackages;
    readonly options: YumInstallOptions;
    readonly context: JobContext;
  },
): Promise<Plan> {
  const plan: Plan = { install: [], downgrade: [], reinstall: [], errors: [] };
  const versions = (name: string) => (before.get(name) ?? []).map(({ version }) => version);
  if (targets.kind === "advisory") {
    const advisories = await options.advisories();
    const unknown = targets.ids.find((id) => !advisories.has(id));
    if (unknown !== undefined) throw new CommandError(`Advisory id "${unknown}" not found`);
    plan.install.push(...targets.ids.map((id): Target => [id, id]));
    return plan;
  }
  if (targets.kind === "file") {
    for (const path of targets.files.values()) {
      const info = await packageFileInfo(path, "base", context);
      if (info === undefined) plan.install.push(["", path]);
      else {
        const wanted = { name: info.name, word: path, version: info.version };
        sortTarget(wanted, plan, { installed: versions(info.name), options });
      }
    }
    return plan;
  }
  const special = (version: string | null) => version !== null && /^[<>]|\*/.test(version);
  const uncertain = [...targets.packages].filter(([, version]) => special(version)).map(([name]) => name);
  // The globs come first.
  uncertain.sort((a, b) => Number(isGlob(targets.packages.get(b))) - Number(isGlob(targets.packages.get(a))));
  const available = uncertain.length === 0 ? new Map<Value, Value>() : await options.available(uncertain);
  for (const [name, wanted] of targets.packages) {
    if (wanted === null) {
      const again = options.reinstall && before.has(name);
      (again ? plan.reinstall : plan.install).push([name, name]);
      continue;
    }
    const choice = chosenVersion(name, wanted.replace(/^=+/, ""), { available, options });
    if ("error" in choice) plan.errors.push(choice.error);
    else {
      const { bare, ending } = splitName(name, options.kwargs, context);
      const version = choice.version;
      const shownVersion = options.ignoreEpoch ? version : version.replace(/^[^:]*:/, "");
      const one = { name: bare, word: `${bare}-${shownVersion}${ending}`, version };
      sortTarget(one, plan, { installed: versions(bare), options });
    }
  }
  return plan;
}

function isGlob(version: string | null | undefined): boolean {
  return version?.includes("*") ?? false;
}

/** The version in the repositories that matches an expression or glob. */
function chosenVersion(
  name: string,
  wanted: string,
  { available, options }: { readonly available: ReadonlyMap<Value, Value>; readonly options: YumInstallOptions },
): { readonly version: string } | { readonly error: string } {
  const offered = available.get(name);
  const candidates = listOrEmpty(offered).map(str);
  let version = wanted;
  if (!version.includes("*") && /^[<>]/.test(version)) {
    const match = matchingVersion(version, candidates, { order: rpmOrder(options.ignoreEpoch) });
    if (match === undefined) {
      return {
        error: `No version matching '${name}${version}' could be found (available: ${
          joinCandidates(candidates, "None")
        })`,
      };
    }
    version = match;
  }
  if (options.ignoreEpoch && yumProgram() === "yum") version = version.replace(/^[^:]*:/, "");
  if (!version.includes("*")) return { version };
  const match = candidates.find(compileGlob(version));
  if (match !== undefined) return { version: match };
  return {
    error: `No version matching '${version}' found for package '${name}' (available: ${
      joinCandidates(candidates, "none")
    })`,
  };
}

/** A name without its architecture, and the architecture with its dot. */
function splitName(
  name: string,
  kwargs: ValueMap,
  context: JobContext,
): { readonly bare: string; readonly ending: string } {
  const dot = name.lastIndexOf(".");
  const arch = name.slice(dot + 1);
  const splits = arch !== ownArchitecture(context) || isTrue(kwargs.get("split_arch") ?? true);
  if (dot < 0 || !ARCHITECTURES.includes(arch) || !splits) return { bare: name, ending: "" };
  return { bare: name.slice(0, dot), ending: `.${arch}` };
}

/** The words before the packages, for each step of a plan. */
function commandsOf(verb: "install" | "update", { kwargs, skipVerify, downloadonly }: YumInstallOptions) {
  const program = yumProgram();
  const common = [
    ...yumOptions(kwargs),
    ...skipVerify ? ["--nogpgcheck"] : [],
    ...downloadonly && program !== "dnf5" ? ["--downloadonly"] : [],
  ];
  const best = ["--best", "--allowerasing"];
  return {
    install: ["-y", ...program === "dnf" ? best : [], ...common, verb, ...program === "dnf5" ? best : []],
    downgrade: ["-y", ...common, "downgrade"],
    reinstall: ["-y", ...common, "reinstall"],
  };
}

/**
 * Installs packages.
 * @returns The changes.
 * @throws {CommandError} With the changes that were made.
 */
export async function installYumPackages(
  targets: YumTargets,
  context: JobContext,
  options: YumInstallOptions,
): Promise<ValueMap> {
  const attr = options.kwargs.get("diff_attr");
  const listInstalled = async () => {
    const packages = await installedRpms(context);
    return { packages, shown: formatRpms(packages, { asList: false, attr }) };
  };
  const readDownloaded = async () => ({ packages: new Map(), shown: await options.downloaded() });
  const list = options.downloadonly ? readDownloaded : listInstalled;
  const before = await list();
  const plan = await planInstall(targets, { before: before.packages, options, context });
  const errors = [...plan.errors];
  const installed = options.downloadonly ? await installedRpms(context) : before.packages;
  const holds = await holdsOr([], installed, context);
  const isAdvisory = targets.kind === "advisory";
  const prefixes = commandsOf(isAdvisory ? "update" : "install", options);
  const prevented: string[] = [];
  for (const step of ["install", "downgrade", "reinstall"] as const) {
    const free = plan[step].filter(([name]) => !holds.includes(name));
    const held = plan[step].filter(([name]) => holds.includes(name));
    if (!options.updateHolds) prevented.push(...held.map(([name]) => name));
    const run = async (words: readonly string[]) => {
      if (words.length === 0) return;
      const given = isAdvisory ? words.map((word) => `--advisory=${word}`) : words;
      const { retcode, stdout } = await runYum([...prefixes[step], ...given], context, { joined: true });
      if (retcode !== 0) errors.push(stdout);
    };
    const words = free.map(([, word]) => word);
    if (held.length === 0 || !options.updateHolds) await run(words);
    else await withoutHolds(held, { words, run, errors, context });
  }
  const after = await list();
  const changes = changesBetween(before.shown, after.shown);
  for (const [name] of plan.reinstall) {
    changes.set(name, map({ old: before.shown.get(name) ?? "", new: after.shown.get(name) ?? "" }));
  }
  if (prevented.length > 0) {
    errors.push(
      `The following package(s) could not be updated because they are being held: ${prevented.join(", ")}. Set ` +
        "'update_holds' to True to temporarily unhold these packages so that they can be updated.",
    );
  }
  if (errors.length === 0) return changes;
  const kind = plan.reinstall.length > 0 ? "/reinstalling" : "";
  throw changeFailure(`Error occurred installing${kind} package(s)`, { errors, changes });
}

/** The names of held packages; none if packages cannot be held. */
async function holdsOr(none: string[], installed: RpmPackages, context: JobContext): Promise<string[]> {
  try {
    await requireVersionlock(context, installed);
    return await heldPackages({ full: false }, context);
  } catch (error) {
    if (error instanceof InvocationError) return none;
    throw error;
  }
}

/** Runs a step while packages are temporarily not held. */
async function withoutHolds(
  held: readonly Target[],
  { words, run, errors, context }: {
    readonly words: readonly string[];
    readonly run: (words: readonly string[]) => Promise<void>;
    readonly errors: string[];
    readonly context: JobContext;
  },
): Promise<void> {
  const names = held.map(([name]) => name);
  try {
    const released = await unholdPackages(names, context);
    const isFree = (name: string) => released.get(name)?.get("result") === true;
    errors.push(...names.filter((name) => !isFree(name)));
    await run([...words, ...held.filter(([name]) => isFree(name)).map(([, word]) => word)]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    errors.push(`Error encountered unholding packages ${names.join(", ")}: ${error.message}`);
  } finally {
    await holdPackages(names, context);
  }
}

/**
 * Removes packages; a name may be a glob.
 * @returns The changes.
 */
export async function removeYumPackages(targets: Targets, kwargs: ValueMap, context: JobContext): Promise<ValueMap> {
  const packages = await installedRpms(context);
  const before = formatRpms(packages, { asList: false });
  const packageNames = targets.kind === "repository" ? targets.packages : new Map<string, string | null>();
  const plain = [...packageNames].filter(([name]) => !name.includes("*"));
  const globs = [...packageNames].filter(([name]) => name.includes("*"));
  const matched = globs.flatMap(([glob, version]) =>
    [...packages.keys()].filter(compileGlob(glob)).map((name): [string, string | null] => [name, version])
  );
  const words = [...new Map([...plain, ...matched])].flatMap(([name, version]) => {
    const versions = packages.get(name)?.map((one) => one.version);
    if (versions === undefined) return [];
    if (version === null || version === "") return [name];
    if (!versions.includes(version)) return [];
    const { bare, ending } = splitName(name, kwargs, context);
    return [`${bare}-${version.replace(/^[^:]*:/, "")}${ending}`];
  });
  if (words.length === 0) return new Map();
  const { retcode, stderr } = await runYum(["-y", "remove", ...words], context);
  const changes = changesBetween(before, formatRpms(await installedRpms(context), { asList: false }));
  if (retcode === 0 || stderr === "") return changes;
  throw changeFailure("Error occurred removing package(s)", { errors: [stderr], changes });
}

/**
 * Upgrades the named packages, or all.
 * @param words The arguments of yum.
 * @returns The changes.
 */
export async function upgradeYumPackages(
  words: readonly string[],
  attr: Value,
  context: JobContext,
): Promise<ValueMap> {
  const list = async () => formatRpms(await installedRpms(context), { asList: false, attr });
  const before = await list();
  const result = await runYum(words, context);
  const changes = changesBetween(before, await list());
  if (result.retcode === 0) return changes;
  throw changeFailure("Problem encountered upgrading packages", { changes, result: map({ ...result }) });
}
