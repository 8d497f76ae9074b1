/**
 * Execution module `docker`: files are copied into containers and out of them.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`, `salt/modules/container_resource.py` (`copy_to`).
 * @module
 */

import { removeAny } from "#lib/host/filesystem/trees.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { enginePath } from "#lib/host/docker/engine.ts";
import { exists, isDirectory, isFile } from "#lib/os/file_kind.ts";
import { baseName, dirName, isAbsolute, joinPath } from "#lib/os/paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";
import { needRunning } from "./lookups.ts";
import { runInContainer } from "./running.ts";

const QUIET = {
  exec_driver: null,
  stdin: null,
  python_shell: false,
  output_loglevel: "quiet",
  ignore_retcode: true,
  keep_env: null,
};

/** Runs a program in a container, whose outcome nobody else sees. */
async function quietly(context: JobContext, name: string, words: string[], driver: string | null = null) {
  return await runInContainer(context, name, words, { ...QUIET, exec_driver: driver });
}

/** The checksum of a file in a container; `undefined`: it cannot be read. */
async function sha256In(
  context: JobContext,
  name: string,
  path: string,
  driver: string | null = null,
): Promise<string | undefined> {
  const { stdout } = await quietly(context, name, ["sha256sum", path], driver);
  return stdout.split(/\s/)[0] || undefined;
}

/** The file of a source: of the master, or of the minion. */
export async function localSource(context: JobContext, source: string): Promise<string> {
  if (!source.startsWith("salt://")) return source;
  const cached = await context.call("cp.cache_file", [source]);
  if (!truthy(cached)) throw new CommandError(`Unable to cache ${source}`);
  return str(cached);
}

/** Where a file goes on this host. */
function hostDestination(source: string, dest: string, makedirs: boolean, overwrite: boolean): string {
  if (!isAbsolute(dest)) throw new InvocationError("Destination path must be absolute");
  const path = isDirectory(dest) ? joinPath(dest, baseName(source)) : dest;
  const directory = dirName(path);
  if (!isDirectory(directory)) {
    if (!makedirs) throw new InvocationError(`Directory ${directory} does not exist`);
    Deno.mkdirSync(directory, { recursive: true });
  }
  if (!overwrite && exists(path)) {
    throw new CommandError(`Destination path ${path} already exists. Use overwrite=True to overwrite it`);
  }
  return path;
}

/** Writes a file of a container to this host. */
async function fetchFile(context: JobContext, name: string, given: string, dest: string): Promise<void> {
  const engine = await engineOf(context);
  // The engine gives a link as a link.
  const source = (await quietly(context, name, ["readlink", "-f", given])).stdout || given;
  const request = { method: "GET", path: enginePath("containers", name, "archive"), query: { path: source } } as const;
  const directory = Deno.makeTempDirSync({ prefix: "salt_docker_" });
  try {
    await engine.stream({ ...request, timeoutS: null }, async (body) => {
      using file = Deno.openSync(`${directory}/archive`, { write: true, createNew: true, mode: 0o600 });
      for await (const piece of body) for (let at = 0; at < piece.length;) at += file.writeSync(piece.subarray(at));
    });
    Deno.mkdirSync(`${directory}/out`);
    const words = ["tar", "-x", "-f", `${directory}/archive`, "-C", `${directory}/out`, "--no-same-owner"];
    const { retcode, stderr } = await runProgram(words, context);
    if (retcode !== 0) throw new CommandError(`Unable to copy ${source} from container '${name}': ${stderr}`);
    const copy = `${directory}/out/${baseName(source)}`;
    if (!Deno.lstatSync(copy).isFile) throw new CommandError(`${given} in container '${name}' is no regular file`);
    Deno.copyFileSync(copy, dest);
  } finally {
    removeAny(directory);
  }
}

/** A function that copies a file out of a container. */
function copyingFrom(word: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Copy a file of a container to this host: dest is a path or a directory. Return whether the copy is the file.",
      `docker.${word} mycontainer /var/log/nginx/access.log /home/myuser`,
    ),
    permissions: "all",
    params: { name: p.str(), source: p.str(), dest: p.str(), overwrite: p.bool(false), makedirs: p.bool(false) },
    async run({ name, source, dest, overwrite, makedirs }, context) {
      await needRunning(await engineOf(context), name);
      const path = hostDestination(source, dest, makedirs, overwrite);
      if (!isAbsolute(source)) throw new InvocationError("Source path must be absolute");
      const isThere = async (flag: string) => (await quietly(context, name, ["test", flag, source])).retcode === 0;
      if (!await isThere("-e")) throw new InvocationError(`Source file ${source} does not exist`);
      if (!await isThere("-f")) throw new InvocationError("Source must be a regular file");
      const sum = await sha256In(context, name, source);
      const here = async () => exists(path) ? await context.call("file.get_sum", [path, "sha256"]) : null;
      if (sum !== undefined && sum === await here()) return true;
      await fetchFile(context, name, source, path);
      return sum === await here();
    },
  });
}

export const copy_from: ModuleFunction<JobContext> = copyingFrom("copy_from");
export const cp: ModuleFunction<JobContext> = copyingFrom("cp");

/** A file that goes into a container. */
export interface Copy {
  readonly name: string;
  readonly source: string;
  readonly dest: string;
  readonly exec_driver: string | null;
  readonly overwrite: boolean;
  readonly makedirs: boolean;
}

async function containerDestination(context: JobContext, { name, dest, exec_driver, ...copy }: Copy, file: string) {
  if (!isAbsolute(dest)) throw new InvocationError("Destination path must be absolute");
  const test = async (flag: string, path: string) =>
    (await quietly(context, name, ["test", flag, path], exec_driver)).retcode === 0;
  if (await test("-d", dest)) return joinPath(dest, baseName(file));
  const directory = dirName(dest);
  if (!await test("-d", directory)) {
    if (!copy.makedirs) {
      throw new InvocationError(`Directory ${directory} does not exist on docker container '${name}'`);
    }
    const made = await quietly(context, name, ["mkdir", "-p", directory], exec_driver);
    if (made.retcode !== 0) {
      const reason = made.stderr === "" ? "" : `: ${made.stderr}`;
      throw new CommandError(`Unable to create destination directory ${directory} in container '${name}'${reason}`);
    }
  }
  return dest;
}

/**
 * Copies a file into a container that runs.
 * @returns Whether what is there is the file.
 */
export async function copyIntoContainer(context: JobContext, copy: Copy): Promise<boolean> {
  const { name, source, exec_driver, overwrite } = copy;
  await needRunning(await engineOf(context), name);
  const file = await localSource(context, source);
  if (!isAbsolute(file)) throw new InvocationError("Source path must be absolute");
  if (!exists(file)) throw new InvocationError(`Source file ${file} does not exist`);
  if (!isFile(file)) throw new InvocationError("Source must be a regular file");
  const dest = await containerDestination(context, copy, file);
  if (!overwrite && (await quietly(context, name, ["test", "-e", dest], exec_driver)).retcode === 0) {
    throw new CommandError(`Destination path ${dest} already exists. Use overwrite=True to overwrite it`);
  }
  const sum: Value = await context.call("file.get_sum", [file, "sha256"]);
  if (sum === await sha256In(context, name, dest, exec_driver)) return true;
  const stdin = joinBytes([await Deno.readFile(file)]);
  // An empty file has no input that could be given.
  const words = stdin.length === 0 ? ["cp", "/dev/null", dest] : ["tee", dest];
  await runInContainer(context, name, words, { ...QUIET, exec_driver, stdin, quiet: true });
  return sum === await sha256In(context, name, dest, exec_driver);
}

export const copy_to: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Copy a file of the master (salt://) or of this host into a container: dest is a path or a directory. Return whether the copy is\n" +
      "the file.",
    "docker.copy_to mycontainer /tmp/foo /root/foo",
    "docker.copy_to mycontainer salt://foo /root/ overwrite=True",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    source: p.str(),
    dest: p.str(),
    exec_driver: p.str(null),
    overwrite: p.bool(false),
    makedirs: p.bool(false),
  },
  run: (copy, context) => copyIntoContainer(context, copy),
});
