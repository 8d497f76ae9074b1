/**
 * The data of dpkg: its selections, the installed packages, the files of packages, and package files. Source: Salt
 * 3008.3, `salt/modules/aptpkg.py`, `salt/modules/dpkg_lowpkg.py`; dpkg(1), dpkg-query(1).
 * @module
 */

import { runApt } from "./run_apt.ts";
import { aptCache } from "./package_cache.ts";
import * as output from "./apt_output.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord, outputOf, runProgram } from "#lib/programs/run_program.ts";
import { lexists } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Packages by dpkg's selection state: `install`, `hold`, … */
export async function selections(context: JobContext, pattern = "*"): Promise<ReadonlyMap<string, string[]>> {
  const word = checkedWord(pattern || "*", "pattern");
  const cached = aptCache(context).selections();
  const earlier = cached.get(word);
  if (earlier !== undefined) return earlier;
  const { retcode, stdout } = await runProgram(["dpkg", "--get-selections", word], context);
  const selections = output.parseSelections(stdout);
  if (retcode === 0) cached.set(word, selections);
  return selections;
}

/**
 * Sets dpkg's selection state of packages.
 * @returns The `old` and `new` state of each changed package.
 */
export async function select(state: string, names: readonly string[], context: JobContext): Promise<ValueMap> {
  const before = new Map<string, string>();
  for (const [known, packages] of await selections(context)) for (const name of packages) before.set(name, known);
  const changes: ValueMap = new Map();
  for (const name of names) {
    if (before.get(name) === state) continue;
    const stdin = `${checkedWord(name, "package name")} ${state}`;
    const { retcode } = await runApt(["dpkg", "--set-selections"], context, { scope: false, stdin });
    if (retcode === 0) changes.set(name, map({ old: before.get(name) ?? null, new: state }));
    else context.log("error", `failed to set state ${state} for package ${name}`);
  }
  return changes;
}

/** Clears dpkg's selections. */
export async function clearSelections(context: JobContext): Promise<void> {
  const { retcode, stderr } = await runApt(["dpkg", "--clear-selections"], context, { scope: false });
  if (retcode !== 0) throw new CommandError(`Running dpkg --clear-selections failed: ${stderr}`);
}

/**
 * Name, version and architecture of a package file.
 * @throws {CommandError} If it is not one.
 */
export async function archiveInfo(
  path: string,
  context: JobContext,
): Promise<{ readonly name: string; readonly version: string; readonly arch: string }> {
  const result = await runProgram(["dpkg", "-I", checkedWord(path, "path")], context);
  if (result.retcode !== 0) {
    throw new CommandError(`Unable to get info for ${path}${result.stderr === "" ? "" : `: ${result.stderr}`}`);
  }
  const { name, version, arch } = output.parseArchive(result.stdout);
  if (name !== undefined && version !== undefined && arch !== undefined) {
    const own = context.grains.get("osarch");
    const foreign = context.grains.get("cpuarch") === "x86_64" && own === "amd64" && arch !== "all" && arch !== own;
    return { name: foreign ? `${name}:${arch}` : name, version, arch };
  }
  const missing = Object.entries({ name, version, arch }).filter(([, value]) => value === undefined);
  throw new CommandError(`Unable to get ${missing.map(([field]) => field).join(", ")} for ${path}`);
}

/**
 * dpkg's information about the named packages, or all.
 * @throws {CommandError} If one is unknown, with `failhard`.
 */
export async function packageInfo(
  names: readonly string[],
  context: JobContext,
  failhard: boolean,
): Promise<ValueMap[]> {
  const checkedNames = names.map((name) => checkedWord(name, "package name"));
  const { retcode, stdout, stderr } = await runProgram(
    ["dpkg-query", "-W", `-f=${output.INFO_FORMAT}`, ...checkedNames],
    context,
  );
  if (retcode === 0) return output.parseAptInfo(stdout);
  if (failhard) throw new CommandError(`Error getting packages information: ${stderr}`);
  return [];
}

/** The files of the named packages, or of all. */
export async function packageFiles(
  names: readonly string[],
  context: JobContext,
): Promise<Map<string, string[]> | string> {
  const checkedNames = names.map((name) => checkedWord(name, "package name"));
  const query = ["dpkg-query", "-f=${db:Status-Status}\t${binary:Package}\n", "-W", ...checkedNames];
  const { retcode, stdout, stderr } = await runProgram(query, context);
  if (retcode !== 0) {
    context.log("error", `Error:  ${stderr}`);
    return `Error:  ${stderr}`;
  }
  const files = new Map<string, string[]>();
  for (const line of stdout.split("\n")) {
    const [status, name] = line.split("\t");
    if (status === "installed") files.set(name, (await outputOf(["dpkg", "-L", name], context)).split("\n"));
  }
  return files;
}

/** The result of {@linkcode packageFiles} as one list. */
export function asFileList(files: Map<string, string[]> | string): Value {
  return typeof files === "string"
    ? files
    : map({ errors: [], files: [...new Set([...files.values()].flat())].sort() });
}

/** The result of {@linkcode packageFiles}, by package. */
export function asFilesByPackage(files: Map<string, string[]> | string): Value {
  return typeof files === "string" ? files : map({ errors: [], packages: new Map(files) });
}

/** The licences of an installed package, from its copyright file. */
export function licenceOf(name: string): string {
  const path = `/usr/share/doc/${name}/copyright`;
  // Not every copyright file is UTF-8.
  return lexists(path) ? output.parseLicences(new TextDecoder().decode(Deno.readFileSync(path))) : "";
}
