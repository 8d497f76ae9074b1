/**
 * Packages of rpm: installed packages, owners of files, and package files. Source: Salt 3008.3,
 * `salt/modules/rpm_lowpkg.py`, `salt/modules/pkg_resource.py`; rpm(8).
 * @module
 */

import { asVersions } from "./package_list.ts";
import { splitArchitecture } from "./rpm_architectures.ts";
import * as output from "./rpm_output.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord, type ProgramOptions, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { lexists } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Installed packages by name, the versions of each in order. */
export type RpmPackages = ReadonlyMap<string, readonly output.RpmPackage[]>;

/** rpm's name of this host's architecture. */
export function ownArchitecture({ grains }: JobContext): string {
  return str(grains.get("osarch") ?? "");
}

/** `rpm`, with the root directory of a host below this one. */
export function rpmWords(root: Value | undefined, ...words: readonly string[]): string[] {
  return ["rpm", ...truthy(root) ? ["--root", str(root ?? "")] : [], ...words];
}

/**
 * Runs rpm.
 * @throws {CommandError} If it is not there.
 */
export function runRpm(
  words: readonly string[],
  context: JobContext,
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  return runProgram(words, context, options);
}

/**
 * The installed packages.
 * @param options.checked Whether rpm checks digests and signatures.
 */
export async function installedRpms(
  context: JobContext,
  { root, checked = false }: { readonly root?: Value; readonly checked?: boolean } = {},
): Promise<RpmPackages> {
  const format = `${output.packageFormat("(none)")}\n`;
  const words = rpmWords(root, "-qa", ...checked ? [] : ["--nodigest", "--nosignature"], "--queryformat", format);
  return output.parseRpmInstalled((await runRpm(words, context, { joined: true })).stdout, ownArchitecture(context));
}

/** The attributes that `attr` may ask for. */
const ATTRIBUTES = ["epoch", "version", "release", "arch", "install_date", "install_date_time_t"] as const;

/**
 * The packages as `pkg.list_pkgs` returns them.
 * @param attr `all`, a list, a text with commas, or nothing.
 */
export function formatRpms(packages: RpmPackages, { asList, attr }: {
  readonly asList: boolean;
  readonly attr?: Value;
}): ValueMap {
  if (truthy(attr)) return withAttributes(packages, attr ?? null);
  const versions = new Map([...packages].map(([name, all]) => [name, all.map(({ version }) => version)]));
  return asVersions(versions, asList);
}

function withAttributes(packages: RpmPackages, attr: Value): ValueMap {
  const wanted = ATTRIBUTES.filter((name) =>
    attr === "all" || name === "version" || name === "arch" || splitInput(attr).includes(name)
  );
  const attributes = new Map<Value, Value[]>();
  for (const [full, all] of packages) {
    const { name, arch } = splitArchitecture(full);
    const entries = all.map((one) => {
      const parts = { ...one, ...output.splitVersion(one.version) };
      return map(Object.fromEntries(wanted.map((key) => [key, parts[key]])));
    });
    const isNamed = entries.some((one) => (one.get("arch") ?? null) === arch);
    const key = isNamed ? name : full;
    attributes.set(key, [...attributes.get(key) ?? [], ...entries]);
  }
  return new Map(attributes);
}

/**
 * Information about a package file; `undefined` if it is not one.
 * @throws {CommandError} If it is not there.
 */
export async function packageFileInfo(
  path: string,
  saltenv: Value,
  context: JobContext,
): Promise<output.RpmPackage | undefined> {
  let local = path;
  if (/^(salt|https?|ftp|s3|swift|file):\/\//.test(path)) {
    local = str(await context.call("cp.cache_file", [path], map({ saltenv })));
    if (local === "" || local === "False") {
      throw new CommandError(`Unable to retrieve ${path} from saltenv '${str(saltenv)}'`);
    }
  } else if (!lexists(path)) throw new CommandError(`${path} does not exist on minion`);
  else if (!path.startsWith("/")) throw new InvocationError(`${path} does not exist on minion`);
  const words = ["rpm", "-qp", "--queryformat", output.packageFormat("none"), local];
  return output.parsePackageLine((await runRpm(words, context)).stdout, ownArchitecture(context));
}

/**
 * The packages that files belong to, an empty text for files without a package; for a single file, the package itself.
 */
export async function ownersOf(paths: readonly string[], root: Value | undefined, context: JobContext): Promise<Value> {
  const owners: ValueMap = new Map();
  for (const path of paths) {
    const words = rpmWords(root, "-qf", "--queryformat", "%{name}", checkedWord(path, "path"));
    const { stdout } = await runRpm(words, context, { setsRetcode: true });
    owners.set(path, stdout.toLowerCase().includes("not owned") ? "" : stdout);
  }
  return owners.size === 0 ? "" : owners.size === 1 ? [...owners.values()][0] : owners;
}

/** The files of the named packages, or of all, as one list. */
export async function filesOf(
  names: readonly string[],
  root: Value | undefined,
  context: JobContext,
): Promise<ValueMap> {
  const checkedNames = names.map((name) => checkedWord(name, "package name"));
  const words = rpmWords(root, names.length > 0 ? "-ql" : "-qla", ...checkedNames);
  const { stdout } = await runRpm(words, context, { joined: true, setsRetcode: true });
  return map({ errors: [], files: stdout === "" ? [] : stdout.split("\n") });
}

/** The names and versions of the named packages, or of all, and rpm's messages about those that are not installed. */
export async function queryPackageNames(
  names: readonly string[],
  root: Value | undefined,
  context: JobContext,
): Promise<ReturnType<typeof output.parseNames>> {
  const checkedNames = names.map((name) => checkedWord(name, "package name"));
  const words = rpmWords(
    root,
    names.length > 0 ? "-q" : "-qa",
    "--queryformat",
    "%{NAME} %{VERSION}\\n",
    ...checkedNames,
  );
  return output.parseNames((await runRpm(words, context, { joined: true, setsRetcode: true })).stdout);
}

/** The files of the named packages, or of all, by package. */
export async function filesByPackage(
  names: readonly string[],
  root: Value | undefined,
  context: JobContext,
): Promise<ValueMap> {
  const { packages, missing } = await queryPackageNames(names, root, context);
  const files: ValueMap = new Map();
  for (const name of packages.keys()) {
    const { stdout } = await runRpm(["rpm", "-ql", name], context, { joined: true, setsRetcode: true });
    files.set(name, stdout === "" ? [] : stdout.split("\n"));
  }
  return map({ errors: missing, packages: files });
}

/** rpm's information about the named packages, or all, by name, the newest first. */
export async function infoOf(
  names: readonly string[],
  { root, attr }: { readonly root?: Value; readonly attr?: Value },
  context: JobContext,
): Promise<Map<string, ValueMap[]>> {
  const tags = (await runRpm(["rpm", "--querytags"], context, { setsRetcode: true })).stdout.split("\n");
  const attributes = truthy(attr) ? str(attr ?? "").split(",") : undefined;
  const format = output.infoFormat(attributes, tags.includes("LONGSIZE"));
  if (format === undefined) throw new CommandError("No valid attributes found.");
  const checkedNames = names.map((name) => checkedWord(name, "package name"));
  const words = rpmWords(root, ...names.length > 0 ? ["-q", ...checkedNames] : ["-qa"], "--queryformat", format);
  const { stdout } = await runRpm(words, context, { env: { TZ: "UTC" } });
  return output.parseRpmInfo(stdout, { hasDescription: attributes?.includes("description") ?? true });
}

/**
 * The changed files of packages.
 * @throws {CommandError} If rpm fails.
 */
export async function verifyPackages(
  names: readonly string[],
  kwargs: ValueMap,
  context: JobContext,
): Promise<ValueMap> {
  const list = (key: string): string[] => {
    const given = kwargs.get(key) ?? [];
    if (Array.isArray(given)) return given.map(str);
    if (typeof given === "string") return given.split(",").map((one) => one.trim());
    throw new InvocationError(`${key} must be a list or a comma-separated string`);
  };
  const [ignored, options] = [list("ignore_types"), list("verify_options")];
  const checkedNames = names.map((name) => checkedWord(name, "package name"));
  const words = rpmWords(
    kwargs.get("root"),
    ...options.map((one) => `--${one}`),
    ...names.length > 0 ? ["-V", ...checkedNames] : ["-Va"],
  );
  const { stdout, stderr, retcode } = await runRpm(words, context);
  if (stdout.trim() === "" && retcode !== 0) {
    throw new CommandError(`Failed to verify package(s)${stderr === "" ? "" : `: ${stderr}`}`);
  }
  return stdout === "" ? new Map() : output.parseVerify(stdout, ignored);
}

/**
 * The changed files, with the changed properties.
 * @param flags The properties to report.
 */
export async function modifiedFiles(
  names: readonly string[],
  flags: ValueMap,
  context: JobContext,
): Promise<ValueMap> {
  const checkedNames = names.map((name) => checkedWord(name, "package name"));
  const result = await runRpm(rpmWords(flags.get("root"), "-Va", ...checkedNames), context, { setsRetcode: true });
  if (result.retcode > 1) return map({ pid: result.pid, retcode: result.retcode, stderr: result.stderr });
  if (result.retcode === 0) return new Map();
  const wanted = [...flags].map(([key, value]): [string, Value] => [str(key), value]).filter(([key]) =>
    !key.startsWith("_") && key !== "root"
  );
  const fits = (stats: readonly string[]) => wanted.every(([key, value]) => stats.includes(key) === truthy(value));
  return new Map([...output.parseModified(result.stdout)].filter(([, stats]) => fits(stats)));
}

/** A map of the fields of a package. */
export function packageMap(info: output.RpmPackage): ValueMap {
  return map({ ...info });
}
