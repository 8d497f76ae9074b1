/**
 * The repositories of yum and dnf: listed, changed and removed, in the files of their directories.
 * Source: Salt 3008.3, `salt/modules/yumpkg.py`; yum.conf(5).
 * @module
 */

import { formatRemaining, formatRepoFile, parseRepoFile, type RepoFile } from "./repo_files.ts";
import { installedRpms } from "./rpm.ts";
import { isDnf, runYum, yumProgram } from "./yum.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { isDirectory, lexists } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { map, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The places of repository files. */
export interface RepositoryPlace {
  readonly directories: readonly string[];
  /** Whether a duplicate name in a file is an error. */
  readonly strict: boolean;
}

const CONFIGURATIONS = ["/etc/yum/yum.conf", "/etc/yum.conf", "/etc/dnf/dnf.conf", "/etc/tdnf/tdnf.conf"];

/**
 * The place that the arguments name, or that of yum's configuration.
 * @throws {CommandError} If there is none.
 */
export function findRepositoryPlace(basedir: Value, kwargs: ValueMap): RepositoryPlace {
  const strict = isTrue(kwargs.get("strict_config") ?? true);
  const given = Array.isArray(basedir) ? basedir.map(str) : truthy(basedir) ? str(basedir).split(",") : [];
  const directories = given.map((one) => one.trim()).filter((one) => one !== "");
  return { strict, directories: directories.length > 0 ? directories : configuredDirectories(strict) };
}

function configuredDirectories(strict: boolean): string[] {
  const path = CONFIGURATIONS.find(lexists);
  if (path === undefined) {
    throw new CommandError(
      `No suitable yum config file found in: ${repr(CONFIGURATIONS).replace(/^\[(.*)\]$/, "($1)")}`,
    );
  }
  const { repositories, refused } = parseRepoFile(Deno.readTextFileSync(path), { path, strict });
  if (refused !== undefined) throw new CommandError(refused);
  const given = repositories.get("main")?.get("reposdir");
  if (given === undefined) return ["/etc/yum/repos.d", "/etc/yum.repos.d"];
  return str(given).split(/[,\n]/).map((one) => one.trim()).filter((one) => one !== "");
}

function readRepoFile(path: string, { strict }: RepositoryPlace): RepoFile {
  return parseRepoFile(Deno.readTextFileSync(path), { path, strict });
}

/** The repositories by name, each with its `file`. */
export function listYumRepositories(place: RepositoryPlace): Map<string, ValueMap> {
  const repositories = new Map<string, ValueMap>();
  for (const directory of place.directories.filter(isDirectory)) {
    for (const { name } of [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1)) {
      if (!name.endsWith(".repo")) continue;
      const path = `${directory}/${name}`;
      for (const [key, repository] of readRepoFile(path, place).repositories) {
        repositories.set(key, repository.set("file", path));
      }
    }
  }
  return repositories;
}

function fileOf(repository: ValueMap | undefined): string | undefined {
  const file = repository?.get("file");
  return typeof file === "string" ? file : undefined;
}

/** One repository; an empty map if it is not there. */
export function getYumRepository(name: string, place: RepositoryPlace): ValueMap {
  const key = repositoryName(name);
  const file = fileOf(listYumRepositories(place).get(key));
  return file === undefined ? new Map() : readRepoFile(file, place).repositories.get(key) ?? new Map();
}

/** The name of the repository of `copr:owner/project`. */
function repositoryName(given: string): string {
  const [, owner, project] = /^copr:([^/]*)\/(.*)$/.exec(given) ?? [];
  return owner === undefined ? given : `copr:copr.fedorainfracloud.org:${owner}:${project}`;
}

/**
 * Removes a repository, and its file if it contains no other one.
 * @returns A description of the changes.
 */
export function deleteYumRepository(given: string, place: RepositoryPlace): string {
  const name = repositoryName(given);
  const all = listYumRepositories(place);
  const file = fileOf(all.get(name));
  if (file === undefined) return `Error: the ${name} repo does not exist in ${repr([...place.directories])}`;
  if (![...all].some(([other, one]) => other !== name && fileOf(one) === file)) {
    Deno.removeSync(file);
    return `File ${file} containing repo ${name} has been removed`;
  }
  const { header, repositories } = readRepoFile(file, place);
  repositories.delete(name);
  replaceFile(file, new TextEncoder().encode(formatRemaining({ header, repositories })));
  return `Repo ${name} has been removed from ${file}`;
}

/** The options for the address of a repository; each repository has one of them. */
const LINKS = ["baseurl", "mirrorlist", "metalink"] as const;

/** The options to set, and those to remove. */
function changesOf(given: ValueMap): { readonly set: ValueMap; readonly removed: string[] } {
  const set: ValueMap = new Map();
  const removed: string[] = [];
  for (const [key, value] of given) {
    if (truthy(value) || value === 0) set.set(key, value);
    else removed.push(str(key));
  }
  const link = LINKS.find((one) => set.has(one));
  if (link !== undefined) removed.push(...LINKS.filter((one) => one !== link));
  if (removed.includes("name")) throw new InvocationError("The repo name cannot be deleted");
  return { set, removed };
}

/**
 * Changes a repository, or adds it.
 * @returns All repositories of its file, by the file's path.
 */
export async function changeYumRepository(
  given: string,
  { options, place }: { readonly options: ValueMap; readonly place: RepositoryPlace },
  context: JobContext,
): Promise<ValueMap> {
  if (LINKS.filter((link) => options.has(link)).length > 1) {
    throw new InvocationError(`One and only one of ${LINKS.join(", ")} can be used`);
  }
  const name = repositoryName(given);
  checkedRepositoryName(name);
  const { set, removed } = changesOf(options);
  const file = fileOf(listYumRepositories(place).get(name)) ?? await addedFile(given, { name, set, place }, context);
  const { header, repositories } = lexists(file)
    ? readRepoFile(file, place)
    : { header: "", repositories: new Map([[name, new Map()]]) };
  const repository: ValueMap = repositories.get(name) ?? new Map();
  repositories.set(name, repository);
  for (const link of LINKS.filter((one) => removed.includes(one))) {
    const others = LINKS.filter((one) => one !== link);
    if (!others.some((one) => set.has(one) || repository.has(one))) {
      throw new InvocationError(`Cannot delete ${link} without specifying ${others.join(" or ")}`);
    }
  }
  for (const key of removed) repository.delete(key);
  for (const [key, value] of set) repository.set(key, value);
  replaceFile(file, new TextEncoder().encode(formatRepoFile({ header, repositories })));
  for (const one of repositories.values()) one.delete("comments");
  return map({ [file]: new Map(repositories) });
}

/** @throws {InvocationError} If the name is invalid between brackets, or as a file name. */
function checkedRepositoryName(name: string): void {
  if (/^[^[\]\n/]+$/.test(name)) return;
  throw new InvocationError(`Invalid name of a repository: ${JSON.stringify(name)}`);
}

/** The file for a new repository; for copr the plugin creates it. */
async function addedFile(
  given: string,
  { name, set, place }: { readonly name: string; readonly set: ValueMap; readonly place: RepositoryPlace },
  context: JobContext,
): Promise<string> {
  const directory = place.directories.find(lexists);
  if (directory === undefined) {
    throw new InvocationError(
      "The repo does not exist and needs to be created, but none of the following basedir directories exist: " +
        repr([...place.directories]),
    );
  }
  if (given.startsWith("copr:")) {
    await enableCopr(given.slice("copr:".length), context);
    const file = fileOf(listYumRepositories(place).get(name));
    if (file !== undefined) return file;
    throw new CommandError(`The COPR '${given.slice("copr:".length)}' is not there after it was enabled`);
  }
  if (!set.has("name")) {
    throw new InvocationError("The repo does not exist and needs to be created, but a name was not given");
  }
  if (!LINKS.some((link) => set.has(link))) {
    throw new InvocationError(
      `The repo does not exist and needs to be created, but none of ${LINKS.join(", ")} was given`,
    );
  }
  return `${directory}/${name}.repo`;
}

async function enableCopr(project: string, context: JobContext): Promise<void> {
  const plugin = isDnf() ? "dnf-plugins-core" : "yum-plugin-copr";
  if (!(await installedRpms(context)).has(plugin)) {
    throw new InvocationError(`${plugin} must be installed to use COPR`);
  }
  const { retcode, stderr } = await runYum(["copr", "enable", checkedWord(project, "project"), "-y"], context);
  if (retcode === 0) return;
  throw new CommandError(
    `Unable to add COPR '${project}'. '${yumProgram()}' exited with status ${retcode}: '${stderr}' `,
  );
}
