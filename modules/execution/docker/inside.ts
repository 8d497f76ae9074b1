/**
 * Runs a function of Salt in a container, by a copy of this minion's executable.
 * @module
 */

import { CommandError, messageOf, SshError } from "#lib/errors.ts";
import { type DockerEngine, enginePath } from "#lib/host/docker/engine.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { baseName, dirName } from "#lib/os/paths.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { followInside, INSIDE_ENVIRONMENT, type InsideCall, insideWords, ownExecutable } from "#lib/ssh/inside_call.ts";
import { EarlyEndError } from "#lib/ssh/local_process.ts";
import { newMark } from "#lib/ssh/marked_session.ts";
import type { HostReturn } from "#lib/ssh/messages.ts";
import { archiveOf } from "./archives.ts";
import { engineOf, lastingEngine } from "./connection.ts";
import { ContainerProcess } from "./container_process.ts";
import { needRunning } from "./lookups.ts";
import { attachExec, execState, makeExec } from "./running.ts";

/** How long a program has to end after its input has ended, in milliseconds, and how often it is asked for. */
const END_MS = 10_000, LOOK_MS = 100;

/** The user: what runs there has a directory that nobody else reads, and states are made for root. */
const ROOT = "0";

/**
 * Runs it.
 * @returns What the function returns, and its return code.
 * @throws {CommandError} If there is no such container, it does not run, or nothing can be started there.
 */
export async function callInContainer(name: string, call: InsideCall, context: JobContext): Promise<HostReturn> {
  const engine = await engineOf(context);
  await needRunning(engine, name);
  const directory = Deno.makeTempDirSync({ prefix: ".salt_" });
  const place = `/${baseName(directory)}`;
  try {
    const file = await putExecutable(engine, name, directory, context);
    return await runProcess({ engine, name, place, file, call, context });
  } catch (error) {
    if (error instanceof SshError) throw new CommandError(error.message, { cause: error });
    if (!(error instanceof EarlyEndError)) throw error;
    const said = [error.stdout, error.stderr].map((text) => text.trim()).filter((text) => text !== "").join("\n");
    throw new CommandError(`salt-minion does not run in container '${name}': ${said}`, { cause: error });
  } finally {
    removeAny(directory);
    await removeThere(name, place, context);
  }
}

/**
 * Puts this minion's executable into the container, below the name of its directory here.
 * @returns The name of the file.
 */
async function putExecutable(
  engine: DockerEngine,
  name: string,
  directory: string,
  context: JobContext,
): Promise<string> {
  const { path, file } = await ownExecutable(directory);
  Deno.symlinkSync(path, `${directory}/${file}`);
  const inner = baseName(directory);
  const archived = { directory: dirName(directory), paths: [inner, `${inner}/${file}`], followsLinks: true };
  await engine.ask({
    method: "PUT",
    path: enginePath("containers", name, "archive"),
    query: { path: "/" },
    headers: { "Content-Type": "application/x-tar" },
    body: ReadableStream.from(archiveOf(archived, context)),
    timeoutS: null,
  });
  return file;
}

interface RunningCall {
  readonly engine: DockerEngine;
  readonly name: string;
  /** The directory of the executable there. */
  readonly place: string;
  readonly file: string;
  readonly call: InsideCall;
  readonly context: JobContext;
}

async function runProcess({ engine, name, place, file, call, context }: RunningCall): Promise<HostReturn> {
  const mark = newMark();
  const env = Object.entries({ ...INSIDE_ENVIRONMENT, SALT_UNPACK_DIR: place }).map(([key, value]) =>
    `${key}=${value}`
  );
  const process = await ContainerProcess.start(engine, name, {
    mark,
    Cmd: insideWords(place, file, mark),
    Env: env,
    User: ROOT,
  });
  try {
    await process.line();
    return await followInside(process, call, { name: `container '${name}'`, context });
  } finally {
    // It sees the end of its input, also when the job is ended.
    process[Symbol.dispose]();
    await untilEnded(process.id, name, context);
  }
}

async function untilEnded(id: string, name: string, context: JobContext): Promise<void> {
  const engine = await lastingEngine(context);
  for (const begun = performance.now(); performance.now() - begun < END_MS; await sleep(LOOK_MS)) {
    if (!(await execState(engine, id)).isRunning) return;
  }
  context.log("warning", `salt-minion in container '${name}' still runs ${END_MS / 1000} seconds after its end`);
}

/** Removes the directory there. A container that has ended, or has no `rm`, keeps it, which the log tells. */
async function removeThere(name: string, place: string, context: JobContext): Promise<void> {
  try {
    const engine = await lastingEngine(context);
    const id = await makeExec(engine, name, { Cmd: ["rm", "-rf", place], User: ROOT });
    using connection = await attachExec(engine, id);
    await Array.fromAsync(connection.output);
    const { retcode } = await execState(engine, id);
    if (retcode !== 0) throw new CommandError(`rm ended with ${retcode}`);
  } catch (error) {
    context.log("warning", `${place} is not removed from container '${name}': ${messageOf(error)}`);
  }
}
