/**
 * The contents of the repositories of yum and dnf: packages, advisories, and files to download.
 * Source: Salt 3008.3, `salt/modules/yumpkg.py`; yum(8), yumdownloader(1).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { OfferedPackages } from "./offered_packages.ts";
import { listingOf, runYum, yumProgram } from "./yum.ts";
import { parsePatches } from "./yum_output.ts";
import * as repositories from "./yum_repositories.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A list, or the parts of a text between commas. */
function names(value: Value | undefined): string[] {
  if (!truthy(value)) return [];
  return (Array.isArray(value) ? value.map(str) : str(value ?? "").split(",")).map((one) => one.trim());
}

/** The repositories to query: the named ones, or all that are enabled. */
function requestedRepositories(kwargs: ValueMap): string[] {
  const from = names(kwargs.get("fromrepo"));
  if (from.length > 0) return from;
  const all = repositories.listYumRepositories(repositories.findRepositoryPlace(null, kwargs));
  const [enabled, disabled] = [names(kwargs.get("enablerepo")), names(kwargs.get("disablerepo"))];
  return [...all].filter(([name, options]) =>
    enabled.includes(name) || (!disabled.includes(name) && str(options.get("enabled") ?? "1") === "1")
  ).map(([name]) => name);
}

/** The packages of the repositories that match, with their versions. */
export async function offeredPackages(
  globs: readonly string[],
  kwargs: ValueMap,
  context: JobContext,
): Promise<OfferedPackages> {
  const requested = requestedRepositories(kwargs);
  const cached = isTrue(kwargs.get("cacheonly")) ? ["-C"] : [];
  const offered = new OfferedPackages();
  const add = (stdout: string, strict: boolean) => {
    const result = { stdout, stderr: "", retcode: 0, pid: 0 };
    for (const { repoid, name, version } of listingOf(result, context)) {
      if (strict && !(requested.includes(repoid) && globs.some((glob) => compileGlob(glob)(name)))) continue;
      offered.add(repoid, name, version);
    }
  };
  const program = yumProgram();
  const version = program === "yum"
    ? (await runProgram(["yum", "--version"], context, { joined: true })).stdout.split("\n")[0].trim()
    : undefined;
  if (version !== undefined && compareLooseVersions(version, "3.4.3") < 0) {
    const duplicates = compareLooseVersions(version, "3.2.13") < 0 ? [] : ["--showduplicates"];
    for (const source of ["installed", "available"]) {
      const words = ["--quiet", ...duplicates, ...cached, "list", source];
      const { retcode, stdout } = await runYum(words, context, { mayFail: true });
      if (retcode === 0) add(stdout, true);
    }
    return offered;
  }
  for (const repository of requested) {
    const words = program === "tdnf"
      ? ["--quiet", `--enablerepo=${repository}`, "list"]
      : ["--quiet", "--showduplicates", "repository-packages", checkedWord(repository, "repository"), "list"];
    const wanted = globs.map((glob) => checkedWord(glob, "package name"));
    const { retcode, stdout } = await runYum([...words, ...cached, ...wanted], context, { mayFail: true });
    if (retcode === 0 || !stdout.includes("Error:")) add(stdout, false);
  }
  return offered;
}

/** The versions of packages in the repositories, the newest first. */
export async function availableVersions(
  globs: readonly string[],
  kwargs: ValueMap,
  context: JobContext,
): Promise<ValueMap> {
  return (await offeredPackages(globs, kwargs, context)).byName();
}

/**
 * Downloads packages with yumdownloader.
 * @returns Their files by name.
 */
export async function downloadPackages(packages: readonly string[], context: JobContext): Promise<ValueMap> {
  if (which("yumdownloader") === undefined) throw new CommandError("'yumdownloader' command not available");
  if (packages.length === 0) throw new InvocationError("No packages were specified");
  const directory = `/var/cache/${yumProgram()}/packages`;
  Deno.mkdirSync(directory, { recursive: true });
  const files = () => [...Deno.readDirSync(directory)].map(({ name }) => name);
  const isOf = (file: string) => packages.find((name) => file.startsWith(`${name}-`));
  for (const file of files().filter(isOf)) Deno.removeSync(`${directory}/${file}`);
  const checkedNames = packages.map((name) => checkedWord(name, "package name"));
  await runProgram(["yumdownloader", "-q", `--destdir=${directory}`, ...checkedNames], context, { setsRetcode: true });
  const downloads: ValueMap = new Map();
  for (const file of files().filter((name) => name.endsWith(".rpm"))) {
    const name = isOf(file);
    if (name !== undefined) downloads.set(name, `${directory}/${file}`);
  }
  if (downloads.size === 0) {
    throw new CommandError(`Unable to download any of the following packages: ${packages.join(", ")}`);
  }
  const failed = packages.filter((name) => !downloads.has(name));
  if (failed.length > 0) downloads.set("_error", `The following package(s) failed to download: ${failed.join(", ")}`);
  return downloads;
}

/** The advisories by their ids. */
export async function patches(context: JobContext): Promise<ReturnType<typeof parsePatches>> {
  const words = [yumProgram(), "--quiet", "updateinfo", "list", "all"];
  return parsePatches((await runProgram(words, context, { setsRetcode: true })).stdout);
}
