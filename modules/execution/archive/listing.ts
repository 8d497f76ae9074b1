/**
 * The functions of the module `archive` that list the contents of an archive. Source: the functions of Salt 3008.3
 * `salt/modules/archive.py`.
 * @module
 */

import { runTool, sourceFiles } from "#modules/execution/_file_host.ts";
import { isZipLink } from "#lib/host/archives/zip_extracting.ts";
import { readZipDirectory } from "#lib/host/archives/zip_directory.ts";
import { guessArchiveFormat } from "#lib/host/archives/archive_format.ts";
import { NoTarError, readTar } from "#lib/host/archives/tar_members.ts";
import { CommandError, CommandNotFoundError } from "#lib/errors.ts";
import { schemeOf } from "#lib/host/filesystem/checksums.ts";
import { sourcePath } from "#lib/host/filesystem/sources.ts";
import { tarStream } from "#lib/host/filesystem/tar_stream.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { which } from "#lib/programs/which.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { compareStrings, isInt, map, str, truthy, type Value } from "#lib/values/value.ts";

const SOURCE = { saltenv: p.str("base"), source_hash: p.any(null), use_etag: p.bool(false) };

export const is_encrypted: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a ZIP archive, of this host or at a URL, has encrypted members. With `clean`, a fetched copy is removed.",
    "archive.is_encrypted /path/to/myfile.zip",
  ),
  permissions: "all",
  params: { name: p.str(), clean: p.bool(false), ...SOURCE },
  run: ({ name, clean, ...source }, context) =>
    withArchive(name, { ...source, clean, context }, (path) => {
      const members = readZipDirectory(path);
      if (members === undefined) throw new CommandError(`${name} is not a ZIP file`);
      return members.some(({ encrypted }) => encrypted);
    }),
});

/** The contents of an archive: directories with a slash at their ends. */
interface Listing {
  dirs: string[];
  files: string[];
  links: string[];
}

export const list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "List the members of an archive on this host or at a URL: tar (also compressed; `options` is a command that decompresses to stdout), zip or rar. The kind follows from the " +
      "name or from `archive_format`. With `verbose`, a map of directories, files, links and top-level names; `strip_components` removes that many leading directories from the names. With `clean`, a fetched copy is removed.",
    "archive.list /path/to/myfile.tar.gz strip_components=1",
    "archive.list /path/to/myfile.zip verbose=True",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    archive_format: p.str(null),
    options: p.str(null),
    strip_components: p.any(null),
    clean: p.bool(false),
    verbose: p.bool(false),
    ...SOURCE,
  },
  run: ({ name, ...given }, context) =>
    withArchive(name, { ...given, context }, (path) => listing(path, { ...given, name, context })),
});

interface ListArguments {
  readonly name: string;
  readonly archive_format: string | null;
  readonly options: string | null;
  readonly strip_components: Value;
  readonly verbose: boolean;
  readonly context: JobContext;
}

/** Where an archive comes from. */
interface ArchiveSource {
  readonly clean: boolean;
  readonly saltenv: string;
  readonly source_hash: Value;
  readonly use_etag: boolean;
  readonly context: JobContext;
}

/**
 * Runs `act` with the path of an archive; Salt's errors say where it is.
 * @throws {CommandError} If there is none.
 */
async function withArchive<T>(
  name: string,
  { saltenv, source_hash, use_etag: useEtag, clean, context }: ArchiveSource,
  act: (path: string) => T | Promise<T>,
): Promise<T> {
  const sourceHash = truthy(source_hash) ? str(source_hash) : undefined;
  const path = await sourcePath(name, { saltenv, files: sourceFiles(context), sourceHash, useEtag });
  if (path === undefined) throw new CommandError(`Failed to cache ${name}`);
  try {
    const result = await act(path);
    // Salt removes an archive that is this host's own, too.
    if (clean && !["", "file"].includes(schemeOf(name))) removeIfExists(path);
    return result;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const about = error instanceof UnreadableRarError ? `\nerror:\n${error.output.replaceAll(/^/gm, "    ")}` : "";
    const end = /[.?!]$/.test(error.message) ? "" : ".";
    throw new CommandError(
      `${error.message}${end} Additional info follows:\n\narchive location:\n    ${path}${about}`,
    );
  }
}

async function listing(
  path: string,
  { name, archive_format, options, strip_components, verbose, context }: ListArguments,
): Promise<Value> {
  const strip = stripCount(strip_components);
  const format = archive_format || guessArchiveFormat(path);
  if (format === undefined) {
    throw new CommandError("Unable to guess archive format, please pass an 'archive_format' argument.");
  }
  const members = await listArchive(path, { name, format, options, context });
  if (strip > 0) {
    for (const kind of ["dirs", "files", "links"] as const) {
      members[kind] = members[kind].map((each) => each.split("/").slice(strip).join("/")).filter((each) => each !== "");
    }
  }
  for (const names of Object.values(members)) names.sort(compareStrings);
  const { dirs, files, links } = members;
  return verbose ? verboseListing(members) : [...dirs, ...files, ...links].sort(compareStrings);
}

function stripCount(given: Value): number {
  if (!truthy(given)) return 0;
  const count = isInt(given) ? Number(given) : /^\d+$/.test(str(given)) ? Number(str(given)) : -1;
  if (count <= 0) throw new CommandError("'strip_components' must be a positive integer");
  return count;
}

function verboseListing({ dirs, files, links }: Listing): Value {
  const prefix = commonPrefix([...dirs, ...files, ...links]);
  const top = dirs.filter((name) => name.split("/").length === 2);
  const common = prefix.includes("/") ? `${prefix.split("/")[0]}/` : "";
  const atTop = (names: readonly string[]) => names.filter((name) => !name.includes("/"));
  return map({
    dirs,
    files,
    links,
    top_level_dirs: common !== "" && !top.includes(common) ? [...top, common] : top,
    top_level_files: atTop(files),
    top_level_links: atTop(links),
  });
}

/** The beginning that all names share. */
function commonPrefix(names: readonly string[]): string {
  const [first, ...rest] = names;
  if (first === undefined) return "";
  let length = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

async function listArchive(
  path: string,
  { name, format, options, context }: {
    readonly name: string;
    readonly format: string;
    readonly options: string | null;
    readonly context: JobContext;
  },
): Promise<Listing> {
  if (format === "tar") return await listTar(path, { name, options, context });
  if (format === "zip") return listZip(path, name);
  if (format === "rar") return await listRar(path, { name, context });
  throw new CommandError(`Unsupported archive format '${format}'`);
}

function listZip(path: string, name: string): Listing {
  if (!isFile(path)) {
    throw new CommandError(`Failed to list contents of ${name}: [Errno 2] No such file or directory: '${path}'`);
  }
  const members = readZipDirectory(path);
  if (members === undefined) throw new CommandError(`${name} is not a ZIP file`);
  const links = members.filter(isZipLink).map((member) => member.name);
  const dirs = new Set(members.filter(({ mode }) => (mode & 0o170000) === 0o040000).map((member) => member.name));
  const others = members.map((member) => member.name).filter((each) => !dirs.has(each) && !links.includes(each));
  for (const each of others) if (each.includes("/")) dirs.add(each.slice(0, each.lastIndexOf("/") + 1));
  return { dirs: [...dirs], files: others.filter((each) => !dirs.has(each)), links };
}

/** `rar` lists nothing. */
class UnreadableRarError extends CommandError {
  constructor(message: string, readonly output: string) {
    super(message);
  }
}

async function listRar(
  path: string,
  { name, context }: { readonly name: string; readonly context: JobContext },
): Promise<Listing> {
  if (which("rar") === undefined) throw new CommandError("rar command not available, is it installed?");
  const { stdout } = await runTool(context, ["rar", "lt", path], { joined: true });
  const entries = [...stdout.matchAll(/Name:\s*([^\n]+)\s*Type:\s*([^\n]+)/g)];
  if (entries.length === 0) {
    throw new UnreadableRarError(
      `Failed to list ${name}, is it a rar file? If so, the installed version of rar may be too old to list data in ` +
        "a parsable format. Installing the rarfile Python module may be an easier workaround if newer rar is not " +
        "readily available.",
      stdout,
    );
  }
  const dirs = entries.filter(([, , type]) => type === "Directory").map(([, each]) => `${each}/`);
  return { dirs, files: entries.filter(([, , type]) => type !== "Directory").map(([, each]) => each), links: [] };
}

async function listTar(
  path: string,
  { name, options, context }: { readonly name: string; readonly options: string | null; readonly context: JobContext },
): Promise<Listing> {
  if (!isFile(path)) {
    throw new CommandError(`Failed to list contents of ${name}: [Errno 2] No such file or directory: '${path}'`);
  }
  const listing: Listing = { dirs: [], files: [], links: [] };
  const places = { directory: listing.dirs, link: listing.links, file: listing.files };
  try {
    for await (
      const { name: member, kind } of readTar(
        await tarStream(path, { options, signal: context.signal, child: context.child }),
      )
    ) {
      places[kind].push(kind === "directory" ? `${member}/` : member);
    }
    return listing;
  } catch (error) {
    if (error instanceof CommandNotFoundError) {
      throw new CommandError(`Failed to list contents of ${name}: ${error.message}`);
    }
    if (!(error instanceof NoTarError || error instanceof TypeError)) throw error;
    throw new CommandError(
      `Unable to list contents of ${name}. If this is an XZ-compressed tar archive, install XZ Utils to enable listing its contents. If it is ` +
        "compressed using something other than XZ, it may be necessary to specify CLI options to decompress the archive. See the documentation for details.",
    );
  }
}
