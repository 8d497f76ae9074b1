/**
 * The repositories of zypper: listed from their files, changed and removed by zypper itself.
 * Source: Salt 3008.3, `salt/modules/zypperpkg.py`; zypper(8).
 * @module
 */

import { parseRepoFile } from "./repo_files.ts";
import { runZypper, zypperXml } from "./zypper.ts";
import { CommandError } from "#lib/errors.ts";
import { joinPath } from "#lib/os/paths.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { elementsNamed } from "#lib/text/xml.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A path of this host, or below the directory of another one. */
export function belowRoot(path: string, root: Value | undefined): string {
  return truthy(root) ? joinPath(str(root ?? ""), path.slice(1)) : path;
}

/** The repositories by alias: 0 and 1 are False and True, `NONE` is None. */
export function listZypperRepositories(root: Value | undefined): Map<string, ValueMap> {
  const directory = belowRoot("/etc/zypp/repos.d", root);
  if (!isDirectory(directory)) return new Map();
  const byAlias = new Map<string, ValueMap>();
  for (const { name } of [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1)) {
    if (!name.endsWith(".repo")) continue;
    const path = joinPath(directory, name);
    const { repositories } = parseRepoFile(Deno.readTextFileSync(path), { path, strict: true });
    for (const [alias, options] of repositories) {
      const repository = byAlias.get(alias) ?? new Map<Value, Value>();
      for (const [key, value] of options) if (key !== "comments") repository.set(key, optionValue(value));
      byAlias.set(alias, repository.set("alias", alias));
    }
  }
  return byAlias;
}

function optionValue(value: Value): Value {
  if (value === "0" || value === "1") return value === "1";
  return value === "NONE" ? null : value;
}

/**
 * Removes a repository.
 * @throws {CommandError} If there is none of that alias.
 */
export async function deleteZypperRepository(
  alias: string,
  root: Value | undefined,
  context: JobContext,
): Promise<ValueMap> {
  if (listZypperRepositories(root).has(alias)) {
    const words = ["rr", "--loose-auth", "--loose-query", checkedWord(alias, "alias")];
    const document = await zypperXml(words, context, { root });
    const [message] = elementsNamed(document, "message");
    if (message !== undefined && !elementsNamed(document, "progress").next().done) {
      return new Map<Value, Value>([[alias, true], ["message", message.text]]);
    }
  }
  throw new CommandError(`Repository '${alias}' not found.`);
}

/** An address with the path `/` if it has none. */
function normalizedUrl(url: string): string {
  return url.replace(/^([a-z][\w+.-]*:\/\/[^/?#]*)(?=[?#]|$)/i, "$1/");
}

async function addRepository(alias: string, kwargs: ValueMap, context: JobContext): Promise<void> {
  const root = kwargs.get("root");
  const url = kwargs.get("url") ?? kwargs.get("mirrorlist") ?? kwargs.get("baseurl") ?? null;
  if (!truthy(url)) {
    throw new CommandError(`Repository '${alias}' not found, and neither 'baseurl' nor 'mirrorlist' was specified`);
  }
  if (!/^[a-z][\w+.-]*:/i.test(str(url))) {
    throw new CommandError(`Repository '${alias}' not found and URL for baseurl/mirrorlist is malformed`);
  }
  for (const [other, options] of listZypperRepositories(root)) {
    if (normalizedUrl(str(url)) === str(options.get("baseurl") ?? "")) {
      throw new CommandError(`Repository '${alias}' already exists as '${other}'.`);
    }
  }
  await zypperXml(["ar", checkedWord(str(url), "URL"), checkedWord(alias, "alias")], context, { root });
  if (listZypperRepositories(root).has(alias)) return;
  throw new CommandError(
    `Failed add new repository '${alias}' for unspecified reason. Please check zypper logs.`,
  );
}

/** Options of `zypper modifyrepo` for the keywords. */
function modifyWords(kwargs: ValueMap): string[] {
  const flag = (key: string, on: string, off: string) => kwargs.has(key) ? [isTrue(kwargs.get(key)) ? on : off] : [];
  const value = (key: string) => str(kwargs.get(key) ?? "");
  return [
    ...flag("enabled", "--enable", "--disable"),
    ...flag("refresh", "--refresh", "--no-refresh"),
    ...flag("cache", "--keep-packages", "--no-keep-packages"),
    ...flag("gpgcheck", "--gpgcheck", "--no-gpgcheck"),
    ...kwargs.has("priority") ? [`--priority=${value("priority")}`] : [],
    ...kwargs.has("humanname") ? [`--name='${value("humanname")}'`] : [],
    ...kwargs.has("name") ? ["--name", value("name")] : [],
  ];
}

/**
 * Changes a repository, or adds it.
 * @param refresh Reads the repository again.
 * @returns The repository; `comment` reports if there was nothing to change.
 */
export async function changeZypperRepository(
  alias: string,
  kwargs: ValueMap,
  { refresh, context }: { readonly refresh: () => Promise<unknown>; readonly context: JobContext },
): Promise<ValueMap> {
  const root = kwargs.get("root");
  const repository = listZypperRepositories(root).get(alias);
  if (repository === undefined) await addRepository(alias, kwargs, context);
  else if (kwargs.has("baseurl") && kwargs.get("baseurl") !== repository.get("baseurl")) {
    // Zypper cannot change the address of a repository.
    const wanted: ValueMap = new Map([...repository, ...kwargs]);
    if (!wanted.has("cache")) wanted.set("cache", false);
    await deleteZypperRepository(alias, root, context);
    return await changeZypperRepository(alias, wanted, { refresh, context });
  }
  const words = modifyWords(kwargs);
  if (words.length > 0) {
    await runZypper(["--xmlout", "mr", ...words, checkedWord(alias, "alias")], context, { root, refreshes: true });
  }
  const imports = kwargs.get("gpgautoimport") === true;
  if (imports) await refresh();
  const now = listZypperRepositories(root).get(alias) ?? new Map<Value, Value>();
  if (repository === undefined || words.length > 0 || imports) return now;
  return now.set("comment", "Specified arguments did not result in modification of repo");
}
