/**
 * The repositories of a Debian: found, changed and deleted among the sources of apt. A repository is named by the line
 * that would define it: `deb http://deb.debian.org/debian trixie main`. Source: Salt 3008.3, `salt/modules/aptpkg.py`
 * get_repo, mod_repo, del_repo.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { keywordWords } from "./apt_definition.ts";
import { type AptSource, AptSourceFiles, parseSourceLine, shownSources, sourceLine } from "./apt_sources.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

/** All repositories by their address. */
export function listAptRepositories(root?: string): ValueMap {
  const repositories = new Map<string, ValueMap[]>();
  for (const shown of new AptSourceFiles(root).sources.flatMap(shownSources)) {
    const uri = str(shown.get("uri") ?? "");
    const entries = repositories.get(uri);
    if (entries === undefined) repositories.set(uri, [shown]);
    else entries.push(shown);
  }
  return new Map(repositories);
}

/** The repository; empty if it is not there, or `repo` defines none. */
export function getAptRepository(repo: string, root?: string): ValueMap {
  const wanted = parseSourceLine(repo);
  if (wanted === undefined) return new Map();
  for (const source of new AptSourceFiles(root).sources) {
    if (!isSame(source, wanted)) continue;
    if (wanted.comps.length > 0 && !wanted.comps.some((comp) => source.comps.includes(comp))) continue;
    const info = shownSources(source).find((one) =>
      one.get("type") === wanted.types[0] && bare(str(one.get("uri") ?? "")) === bare(wanted.uris[0]) &&
      one.get("dist") === wanted.suites[0]
    );
    if (info !== undefined) return info;
  }
  return new Map();
}

function isSame(source: AptSource, { types: [type], uris: [uri], suites: [suite] }: AptSource): boolean {
  return source.types.includes(type) && source.suites.includes(suite) &&
    source.uris.some((one) => bare(one) === bare(uri));
}

function bare(uri: string): string {
  return rstripChars(uri, "/");
}

/**
 * Deletes a repository, or its components.
 * @returns A text that describes the deletion.
 * @throws {CommandError} If it is not there.
 */
export function deleteAptRepository(repo: string, root?: string): string {
  const wanted = parseSourceLine(repo);
  const missing = () => new CommandError(`Repo ${repo} doesn't exist in the sources.list(s)`);
  if (wanted === undefined) throw missing();
  const files = new AptSourceFiles(root);
  const changed = new Set<string>();
  for (const source of files.sources) {
    if (!isSame(source, wanted) || !isSameSet(source.architectures, wanted.architectures)) continue;
    const left = source.comps.filter((comp) => !wanted.comps.includes(comp));
    if (isSameSet(source.comps, wanted.comps)) {
      source.suites = source.suites.filter((suite) => suite !== wanted.suites[0]);
      if (source.suites.length === 0) files.remove(source);
    } else if (left.length < source.comps.length) {
      source.comps = left;
      if (left.length === 0) files.remove(source);
    } else continue;
    changed.add(source.file);
  }
  if (changed.size === 0) throw missing();
  const removed = files.save();
  return [...changed].map((file) =>
    removed.includes(file)
      ? `File ${file} containing repo '${repo}' has been removed.`
      : `Repo '${repo}' has been removed from ${file}.\n`
  ).join("");
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

/** The keywords that change a repository. */
export interface RepositoryChange {
  /**
   * More keywords of `pkg.mod_repo`: `comps`, `architectures`, `disabled`, `enabled`, `file`, `comments`, `dist`,
   * `type`.
   */
  readonly kwargs: ValueMap;
  /** Whether a repository without its own key and without `trusted` is refused. */
  readonly needsKey: boolean;
  readonly root?: string;
}

/** Changes a repository, or adds it. */
export function changeAptRepository(repo: string, { kwargs, needsKey, root }: RepositoryChange): void {
  const wanted = parseSourceLine(repo);
  if (wanted === undefined) {
    throw new InvocationError(
      `Name ${repo} is not valid. This must be the complete repo entry as seen in the sources file`,
    );
  }
  const value = kwargs.get("comps");
  const comps = value === undefined ? wanted.comps : keywordWords(value);
  const all = [...new Set([...wanted.comps, ...comps])];
  const architectures = kwargs.has("architectures")
    ? keywordWords(kwargs.get("architectures") ?? "")
    : wanted.architectures;
  const files = new AptSourceFiles(root);
  if (isTrue(kwargs.get("consolidate"))) consolidate(files);
  const [type, dist] = [kwargs.get("type"), kwargs.get("dist")];
  let source = files.sources.find((one) => {
    const isMeant = isSame(one, wanted) ||
      (typeof dist === "string" && typeof type === "string" && one.suites.includes(dist) && one.types.includes(type));
    return isMeant && (one.comps.length === 0 || all.some((comp) => one.comps.includes(comp)) ||
      !isSameSet(architectures, one.architectures));
  });
  if (source === undefined) {
    const trusted = kwargs.has("trusted")
      ? isTrue(kwargs.get("trusted")) || kwargs.get("trusted") === "yes"
      : wanted.trusted;
    if (needsKey && wanted.signedby === "" && trusted !== true) {
      throw new InvocationError("missing 'signedby' or 'trusted' option when apt-key is missing");
    }
    const file = str(kwargs.get("file") ?? wanted.file);
    source = { ...wanted, file, trusted };
    files.add(source);
  } else if (!source.file.endsWith(".sources")) {
    Object.assign(source, { types: wanted.types, uris: wanted.uris, suites: wanted.suites, signedby: wanted.signedby });
  }
  source.comps = comps;
  if (architectures.length > 0 || source.architectures.length > 0) source.architectures = architectures;
  if (wanted.signedby !== "") source.signedby = wanted.signedby;
  if (kwargs.has("disabled")) source.disabled = isTrue(kwargs.get("disabled"));
  else if (kwargs.has("enabled")) source.disabled = !isTrue(kwargs.get("enabled"));
  if (kwargs.has("trusted")) source.trusted = isTrue(kwargs.get("trusted")) || kwargs.get("trusted") === "yes";
  if (typeof dist === "string") source.suites = [dist];
  const comments = kwargs.get("comments");
  if (comments !== undefined) {
    source.comment = (Array.isArray(comments) ? comments.map(str) : [str(comments)]).join(" ").trim();
  }
  // A paragraph of the file may contain a whole key; the arguments have no line ends.
  if (/[\n\r\0]/.test(sourceLine({ ...source, comment: "", signedby: wanted.signedby, options: wanted.options }))) {
    throw new InvocationError(`Invalid repository: ${JSON.stringify(repo)}`);
  }
  files.save();
}

/** Merges entries in `sources.list` that differ only in their components. */
function consolidate(files: AptSourceFiles): void {
  const first = new Map<string, AptSource>();
  for (const source of files.sources.filter(({ file }) => file.endsWith("list"))) {
    const key = JSON.stringify([source.architectures, source.disabled, source.types, source.uris, source.suites]);
    const sameSource = first.get(key);
    files.remove(source);
    if (sameSource !== undefined) sameSource.comps = [...new Set([...sameSource.comps, ...source.comps])];
    else first.set(key, { ...source, file: "/etc/apt/sources.list" });
  }
  for (const source of first.values()) files.add(source);
}
