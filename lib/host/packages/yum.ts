/**
 * Runs yum, dnf, dnf5 or tdnf, whichever this host has, and parses their lists. Source: Salt 3008.3,
 * `salt/modules/yumpkg.py`; yum(8), dnf(8), dnf5(8).
 * @module
 */

import { noteRefresh } from "./refresh_tag.ts";
import { ARCHITECTURES, areBoth32Bits } from "./rpm_architectures.ts";
import { installedRpms, ownArchitecture, type RpmPackages } from "./rpm.ts";
import type { RpmPackage } from "./rpm_output.ts";
import { compareRpmVersions } from "./rpm_version.ts";
import { scopeWords } from "./scope.ts";
import { HOLD_PATTERN, parseDnf5Holds, parseHolds, parseListing, type YumProgram } from "./yum_output.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord, type ProgramOptions, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { isExecutableFile } from "#lib/programs/which.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const PROGRAMS: readonly YumProgram[] = ["dnf5", "dnf", "tdnf", "yum"];

/**
 * The program of the first directory of PATH that has one.
 * @throws {CommandError} If none has.
 */
export function yumProgram(): YumProgram {
  for (const directory of (Deno.env.get("PATH") ?? "/bin:/usr/bin").split(":")) {
    const program = PROGRAMS.find((name) => isExecutableFile(`${directory}/${name}`));
    if (program !== undefined) return program;
  }
  throw new CommandError("DNF nor YUM found");
}

/** Whether it is dnf or dnf5. */
export function isDnf(): boolean {
  return ["dnf", "dnf5"].includes(yumProgram());
}

/** Variables of `system-environment` in the configuration and the pillar, for the module `pkg`. */
function moduleEnvironment({ opts, pillar }: JobContext): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const source of [opts.extra, pillar]) {
    for (const name of ["pkg", "yumpkg"]) {
      let at: Value = source.get("system-environment") ?? null;
      for (const key of ["modules", name, "_"]) at = isMap(at) ? at.get(key) ?? null : null;
      if (isMap(at)) { for (const [key, value] of at) environment[str(key)] = str(value); }
    }
  }
  return environment;
}

/** Runs it. A failure becomes the job's return code, unless it is expected. */
export function runYum(
  words: readonly string[],
  context: JobContext,
  options: ProgramOptions & { readonly mayFail?: boolean } = {},
): Promise<ProgramResult> {
  const { mayFail = false, ...how } = options;
  return runProgram([...scopeWords(context), yumProgram(), ...words], context, {
    env: moduleEnvironment(context),
    setsRetcode: !mayFail,
    ...how,
  });
}

/**
 * Options of yum for the keywords that Salt takes.
 * @param more Whether all other keywords are options, too.
 */
export function yumOptions(kwargs: ValueMap, more = false): string[] {
  const text = (key: string) => truthy(kwargs.get(key)) ? str(kwargs.get(key) ?? "") : "";
  const list = (key: string): string[] => {
    const given = kwargs.get(key);
    return !truthy(given) ? [] : Array.isArray(given) ? given.map(str) : [str(given ?? "")];
  };
  const from = text("fromrepo") || text("repo");
  const words = from !== ""
    ? ["--disablerepo=*", `--enablerepo=${from}`]
    : ["disablerepo", "enablerepo"].flatMap((key) => list(key).map((one) => `--${key}=${one}`));
  for (const key of ["disableexcludes", "branch"]) if (text(key) !== "") words.push(`--${key}=${text(key)}`);
  const settings = kwargs.get("setopt") ?? null;
  if (settings !== null) words.push(...splitInput(settings).map((one) => `--setopt=${one}`));
  if (!more) return words;
  const others = [...kwargs].map(([key, value]): [string, Value] => [str(key), value]).filter(([key]) =>
    !key.startsWith("__") && !OWN_KEYWORDS.includes(key)
  );
  for (const [key, value] of others.sort(([a], [b]) => a < b ? -1 : 1)) {
    if (typeof value === "string") words.push(`--${key}=${value}`);
    else if (value === true) words.push(`--${key}`);
  }
  return words;
}

const OWN_KEYWORDS = [
  "fromrepo",
  "repo",
  "disablerepo",
  "enablerepo",
  "disableexcludes",
  "branch",
  "setopt",
  "get_extra_options",
];

/** Whether there are updates, by the return codes of `check-update`. */
const UPDATES: Readonly<Record<number, boolean | null>> = { 100: true, 0: null, 1: false };

/**
 * Clears the cache of the repositories, and reads them again.
 * @returns Whether there are updates; `null` if there are none.
 */
export async function refreshYum(
  kwargs: ValueMap,
  context: JobContext,
  { checkUpdate = isTrue(kwargs.get("check_update") ?? true) }: { readonly checkUpdate?: boolean } = {},
): Promise<boolean | null> {
  noteRefresh(context.opts);
  const options = yumOptions(kwargs);
  await runYum(["--quiet", "--assumeyes", "clean", "expire-cache", ...options], context, { mayFail: true });
  if (!checkUpdate) return true;
  const { grains } = context;
  const is7 = grains.get("os_family") === "RedHat" && toNumber(grains.get("osmajorrelease")) === 7;
  const quiet = is7 ? ["--setopt=autocheck_running_kernel=false"] : [];
  const words = ["--quiet", "--assumeyes", "check-update", ...quiet, ...options];
  const { retcode } = await runYum(words, context, { mayFail: true });
  return Object.hasOwn(UPDATES, retcode) ? UPDATES[retcode] : false;
}

/** The packages of `yum list`. */
export function listingOf({ stdout }: ProgramResult, context: JobContext): RpmPackage[] {
  return parseListing(stdout, ownArchitecture(context));
}

/** The newest version of each name, if it is newer than the installed one; an empty text if there is none. */
export async function latestYumVersions(
  names: readonly string[],
  options: readonly string[],
  context: JobContext,
): Promise<Value> {
  const own = ownArchitecture(context);
  const installed = await installedRpms(context);
  const words = ["--quiet", ...options, "list", "available", ...names.map((name) => checkedWord(name, "package name"))];
  const result = await runYum(words, context, { mayFail: true });
  const offered = result.retcode === 0 ? listingOf(result, context) : [];
  offered.sort((a, b) => compareLooseVersions(b.version, a.version));
  const latest = (name: string): string => {
    const ending = name.slice(name.lastIndexOf(".") + 1);
    const arch = ARCHITECTURES.includes(ending) ? ending : own;
    const isNewer = ({ version }: RpmPackage) =>
      !(installed.get(name) ?? []).some((one) => compareRpmVersions(one.version, version) >= 0);
    const fits = (one: RpmPackage) => one.arch === "noarch" || one.arch === arch || areBoth32Bits(one.arch, own);
    return offered.find((one) => one.name === name && fits(one) && isNewer(one))?.version ?? "";
  };
  if (names.length === 1) return latest(names[0]);
  return new Map(names.map((name) => [name, latest(name)]));
}

/** The package that contains `versionlock`. */
function lockPackage({ grains }: JobContext): string {
  const program = yumProgram();
  if (program === "tdnf") throw new InvocationError("Cannot proceed, no versionlock for tdnf");
  if (program === "yum") return "yum-plugin-versionlock";
  if (str(grains.get("os") ?? "").toLowerCase() === "fedora") {
    const isNew = (toNumber(Number(str(grains.get("osrelease") ?? "0"))) ?? 0) >= 26;
    return isNew ? "python3-dnf-plugin-versionlock" : "python3-dnf-plugins-extras-versionlock";
  }
  const major = Number(str(grains.get("osmajorrelease") ?? "0"));
  return major >= 8 ? "python3-dnf-plugin-versionlock" : "python2-dnf-plugin-versionlock";
}

/**
 * @param installed What is installed, if that is known.
 * @throws {InvocationError} If packages cannot be held on this host.
 */
export async function requireVersionlock(context: JobContext, installed?: RpmPackages): Promise<void> {
  const name = lockPackage(context);
  const packages = installed ?? await installedRpms(context);
  if (!packages.has(name)) throw new InvocationError(`Cannot proceed, ${name} is not installed.`);
}

const DNF5_LOCKS = "/etc/dnf/versionlock.toml";

/** The held packages: the listed entries, or only their names. */
export async function heldPackages(
  { full, pattern = HOLD_PATTERN }: { readonly full: boolean; readonly pattern?: string },
  context: JobContext,
): Promise<string[]> {
  const program = yumProgram();
  if (program === "dnf5") return parseDnf5Holds(readTextFileIfExists(DNF5_LOCKS) ?? "", { full });
  const { stdout } = await runProgram([program, "versionlock", "list"], context, { joined: true, setsRetcode: true });
  return parseHolds(stdout, { program, pattern, full });
}
