/**
 * Runs a function of Salt in another root directory, by a copy of this minion's executable.
 * @module
 */

import { isEnvironment } from "./directories.ts";
import { runInChroot } from "#modules/execution/cmd/chroot.ts";
import { CommandError, SshError } from "#lib/errors.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { openToWrite } from "#lib/os/new_files.ts";
import { baseName } from "#lib/os/paths.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { followInside, INSIDE_ENVIRONMENT, type InsideCall, insideWords, ownExecutable } from "#lib/ssh/inside_call.ts";
import { EarlyEndError, LocalProcess } from "#lib/ssh/local_process.ts";
import { newMark } from "#lib/ssh/marked_session.ts";
import type { HostReturn } from "#lib/ssh/messages.ts";
import { map, str, type Value } from "#lib/values/value.ts";

/**
 * Runs it.
 * @returns What the function returns; a map with `result: False` and what was said if nothing runs there.
 * @throws {CommandError} If there is no such directory, or no executable.
 */
export async function callInside(root: string, call: InsideCall, context: JobContext): Promise<Value> {
  if (!isEnvironment(root)) throw new CommandError("Chroot environment not found");
  const directory = Deno.makeTempDirSync({ dir: root, prefix: ".salt_" });
  try {
    const file = await copyExecutable(directory);
    const place = `/${baseName(directory)}`;
    const mark = newMark();
    const cmd = `SALT_UNPACK_DIR=${place}; export SALT_UNPACK_DIR; exec ${insideWords(place, file, mark).join(" ")}`;
    const { return: value, retcode } = await runInChroot(
      { root, cmd, binds: null, runas: null, group: null },
      context,
      (words) => runProcess(words.map(str), { mark, root, call, context }),
    );
    context.setRetcode(retcode);
    return value;
  } catch (error) {
    if (error instanceof SshError) throw new CommandError(error.message, { cause: error });
    if (!(error instanceof EarlyEndError)) throw error;
    const { retcode, stdout, stderr } = error;
    return map({ result: false, retcode, comment: map({ stdout, stderr }) });
  } finally {
    removeAny(directory);
  }
}

/**
 * Copies this minion's executable.
 * @returns The name of the file.
 * @throws {SshError} If it cannot be read.
 */
async function copyExecutable(directory: string): Promise<string> {
  const { path, file } = await ownExecutable(directory);
  using source = await Deno.open(path);
  using copy = openToWrite(`${directory}/${file}`, { mode: 0o700 });
  await source.readable.pipeTo(copy.writable);
  return file;
}

interface RunningCall {
  readonly mark: string;
  readonly root: string;
  readonly call: InsideCall;
  readonly context: JobContext;
}

async function runProcess(words: readonly string[], { mark, root, call, context }: RunningCall): Promise<HostReturn> {
  const { signal } = context;
  signal.throwIfAborted();
  await using child = new LocalProcess(words, { mark, env: INSIDE_ENVIRONMENT });
  const kill = () => child.kill();
  signal.addEventListener("abort", kill);
  context.child(child.pid, "started");
  try {
    await child.line();
    return await followInside(child, call, { name: root, context });
  } finally {
    signal.removeEventListener("abort", kill);
    context.child(child.pid, "ended");
    signal.throwIfAborted();
  }
}
