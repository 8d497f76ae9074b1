/**
 * Execution module `docker`: images and containers in archives.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { type DockerEngine, enginePath, type EngineRequest } from "#lib/host/docker/engine.ts";
import { humanSize } from "#lib/host/docker/human_size.ts";
import { exists, isDirectory, isFile } from "#lib/os/file_kind.ts";
import { dirName, isAbsolute } from "#lib/os/paths.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { throughProgram } from "./archives.ts";
import { engineOf } from "./connection.ts";
import { localSource } from "./copying.ts";
import { elapsedSince, imagesById, inspectImage } from "./lookups.ts";
import { tagImage } from "./images.ts";
import { errorDetail, messagesOf } from "./pulling.ts";

/** The program of a compression, by its names and by the ends of paths. */
const COMPRESSIONS: readonly { readonly program: string; readonly names: readonly string[]; readonly ends: RegExp }[] =
  [
    { program: "gzip", names: ["gzip", "gz"], ends: /\.(tar\.gz|tgz)$/ },
    { program: "bzip2", names: ["bzip2", "bz2"], ends: /\.(tar\.bz2|tbz2)$/ },
    { program: "xz", names: ["xz", "lzma"], ends: /\.(tar\.xz|txz)$/ },
  ];

/** The program that compresses; `undefined`: none does. */
function compressorOf(path: string, compression: string | null): string | undefined {
  if (compression === null) return COMPRESSIONS.find(({ ends }) => ends.test(path))?.program;
  const program = COMPRESSIONS.find(({ names }) => names.includes(compression))?.program;
  if (program === undefined) throw new InvocationError(`Invalid compression type '${compression}'`);
  return program;
}

/** A file that gets an archive. */
interface ArchiveFile {
  readonly path: string;
  readonly overwrite: boolean;
  readonly makedirs: boolean;
  readonly compression: string | null;
}

function checkFile({ path, overwrite, makedirs }: ArchiveFile): void {
  if (!isAbsolute(path)) throw new InvocationError(`Path '${path}' is not absolute`);
  if (exists(path) && !overwrite) throw new CommandError(`${path} already exists`);
  const parent = dirName(path);
  if (isDirectory(parent)) return;
  if (!makedirs) {
    throw new CommandError(`Parent dir ${parent} of destination path does not exist. Use makedirs=True to create it.`);
  }
  Deno.mkdirSync(parent, { recursive: true });
}

async function writePiece(file: Deno.FsFile, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length;) at += await file.write(piece.subarray(at));
}

/** Writes an answer of the engine to a file, which is removed if that fails. */
async function writeArchive(
  engine: DockerEngine,
  path: string,
  target: ArchiveFile,
  what: string,
  context: JobContext,
): Promise<ValueMap> {
  checkFile(target);
  const program = compressorOf(target.path, target.compression);
  const begun = performance.now();
  const request: EngineRequest = { method: "GET", path, timeoutS: null };
  let isBegun = false;
  try {
    await engine.stream(request, async (body) => {
      isBegun = true;
      using file = Deno.openSync(target.path, { write: true, create: true, truncate: true });
      const pieces = program === undefined ? body : throughProgram(program, ["-c"], body, context);
      for await (const piece of pieces) await writePiece(file, piece);
    });
  } catch (error) {
    // What was there before stays if the engine has nothing to write.
    if (isBegun) removeIfExists(target.path);
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`${what}: ${error.message}`, { cause: error });
  }
  const { size } = Deno.statSync(target.path);
  return new Map([...elapsedSince(begun), ...map({ Path: target.path, Size: size, Size_Human: humanSize(size) })]);
}

async function pushed(result: ValueMap, kwargs: ValueMap, context: JobContext): Promise<ValueMap> {
  if (!truthy(kwargs.get("push"))) return result;
  return result.set("Push", await context.call("cp.push", [result.get("Path") ?? null]));
}

const ARCHIVE = {
  name: p.str(),
  path: p.str(),
  overwrite: p.bool(false),
  makedirs: p.bool(false),
  compression: p.str(null),
};
const ABOUT =
  "compression is gzip, bzip2 or xz; without it the end of the path says so (.tar.gz, .tgz, .tar.bz2, .tbz2, .tar.xz, .txz).\n" +
  "push=True sends the file to the master. Return its Path, Size and Time_Elapsed.";

export const export_: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Write the files of a container to an archive. ${ABOUT}`,
    "docker.export mycontainer /tmp/mycontainer.tar",
  ),
  permissions: "all",
  params: ARCHIVE,
  varKwargs: "kwargs",
  keywords: ["push"],
  async run({ name, ...file }, context, { kwargs }) {
    const path = enginePath("containers", name, "export");
    const what = "Error occurred during container export";
    return await pushed(await writeArchive(await engineOf(context), path, file, what, context), kwargs, context);
  },
});
export const save: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Write an image to an archive, which docker.load reads. ${ABOUT}`,
    "docker.save centos:7 /tmp/cent7.tar",
  ),
  permissions: "all",
  params: ARCHIVE,
  varKwargs: "kwargs",
  keywords: ["push"],
  async run({ name, ...file }, context, { kwargs }) {
    const engine = await engineOf(context);
    checkFile(file);
    const image = await inspectImage(engine, name);
    const saved = onlyStrings(image.get("RepoTags")).includes(name) ? name : str(image.get("Id") ?? "");
    const what = `Failed to save image(s) to ${file.path}`;
    const path = enginePath("images", saved, "get");
    return await pushed(await writeArchive(engine, path, file, what, context), kwargs, context);
  },
});

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  using file = await Deno.open(path);
  for await (const piece of file.readable) yield piece;
}

/** The images that are the parents of none of the others. */
function topLevel(all: ValueMap, some: readonly Value[]): string[] {
  const parents = [...all.values()].map((one) => mapOrEmpty(one).get("ParentId"));
  return some.filter((id) => !parents.includes(id)).map(str);
}

export const load: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Load the images of an archive of docker.save, of the master (salt://) or of this host. repository and tag: what the image is then\n" +
      "called. Return Path, the new Layers, Image and Time_Elapsed.",
    "docker.load /path/to/archive.tar",
    "docker.load salt://path/to/docker/saved/image.tar repository=myuser/myimage tag=mytag",
  ),
  permissions: "all",
  params: { path: p.str(), repository: p.str(null), tag: p.str(null) },
  async run({ path, repository, tag }, context) {
    if (!repository !== !tag) throw new InvocationError("If tagging, both a repository and tag are required");
    const file = await localSource(context, path);
    if (!isFile(file)) throw new CommandError(`Source file ${path} does not exist`);
    const engine = await engineOf(context);
    const before = await imagesById(engine, true);
    const begun = performance.now();
    const body = ReadableStream.from(piecesOf(file));
    const headers = { "Content-Type": "application/x-tar" };
    const messages = await messagesOf(engine, { method: "POST", path: enginePath("images", "load"), body, headers });
    const problem = messages.map(errorDetail).find((text) => text !== undefined);
    if (problem !== undefined) throw new CommandError(`Failed to load image(s) from ${path}: ${problem}`);
    const after = await imagesById(engine, true);
    const fresh = [...after.keys()].filter((id) => !before.has(id));
    const result = new Map([
      ...elapsedSince(begun),
      ...map({ Path: path, Layers: fresh.map((id) => str(id).slice(0, 12)) }),
    ]);
    if (!repository || !tag) return result;
    const tops = topLevel(after, fresh);
    if (tops.length === 1) {
      const image = `${repository}:${tag}`;
      try {
        await tagImage(engine, tops[0], repository, tag);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        // The image is there all the same.
        return result.set("Warning", `Failed to tag ${tops[0]} as ${image}: ${error.message}`);
      }
      return result.set("Image", image);
    }
    return result.set(
      "Warning",
      tops.length === 0
        ? "No top-level image layers were loaded, no image was tagged"
        : `More than one top-level image layer was loaded (${tops.join(", ")}), no image was tagged`,
    );
  },
});

export const import_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make an image of an archive of files: of the master (salt://), of this host, or of a URL, which the engine fetches. Return its Id,\n" +
      "Image and Time_Elapsed; api_response=True adds the engine's messages.",
    "docker.import /tmp/cent7-minimal.tar.xz myuser/centos",
    "docker.import salt://dockerimages/cent7-minimal.tar.xz myuser/centos 7",
  ),
  permissions: "all",
  params: { source: p.str(), repository: p.str(), tag: p.str("latest"), api_response: p.bool(false) },
  async run({ source, repository, tag, api_response }, context) {
    const file = await localSource(context, source);
    const engine = await engineOf(context);
    const begun = performance.now();
    const hasFile = isFile(file);
    const messages = await messagesOf(engine, {
      method: "POST",
      path: enginePath("images", "create"),
      query: { repo: repository, tag, fromSrc: hasFile ? "-" : file },
      ...hasFile && { body: ReadableStream.from(piecesOf(file)), headers: { "Content-Type": "application/tar" } },
    });
    const result = elapsedSince(begun);
    if (api_response) result.set("API_Response", messages);
    for (const message of messages) {
      const status = message.get("status");
      if (typeof status !== "string" || !/^(sha256:)?[\da-f]+$/i.test(status)) continue;
      result.set("Image", `${repository}:${tag}`).set("Id", status);
    }
    if (result.has("Id")) return result;
    const errors = messages.map(errorDetail).filter((text) => text !== undefined);
    const reasons = errors.length === 0 ? "" : `. Error(s) follow:\n\n${errors.join("\n\n")}`;
    throw new CommandError(`Import failed for ${source}${reasons}`);
  },
});
