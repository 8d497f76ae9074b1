/**
 * Runs a function of Salt in another root directory, by a copy of this minion's executable, which asks this minion for
 * files and pillar as it would ask a master.
 * @module
 */

import { isEnvironment } from "./directories.ts";
import { runInChroot } from "#modules/execution/cmd/chroot.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { CommandError, SshError } from "#lib/errors.ts";
import { fileRequests } from "#lib/files/client/open.ts";
import { FILE_COMMANDS } from "#lib/files/server/file_commands.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { openToWrite } from "#lib/os/new_files.ts";
import { baseName } from "#lib/os/paths.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { readGrainsFile } from "#lib/programs/grains_file.ts";
import { LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { Executables } from "#lib/ssh/executables.ts";
import { followHost } from "#lib/ssh/follow_host.ts";
import { EarlyEndError, LocalProcess } from "#lib/ssh/local_process.ts";
import { newMark } from "#lib/ssh/marked_session.ts";
import type { HostReturn, SshCall } from "#lib/ssh/messages.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** What is to be run. */
export interface InsideCall {
  readonly root: string;
  readonly fun: string;
  /** As on the wire. */
  readonly arg: readonly Value[];
  /** The pillar that it has. */
  readonly pillar: ValueMap;
  /** Whether plugins of the operator's own are fetched. */
  readonly syncs: boolean;
}

/** What a function there may ask this minion's master for, besides files. */
const PASSED_ON: readonly string[] = ["_master_opts", "_master_tops", "_ext_nodes", "_mine_get"];

/** Options of this minion that say how states are rendered and run; the others are of its own directories. */
const IS_OPTION_OF_STATES =
  /^(state_|jinja_|renderer|saltenv$|lock_saltenv$|failhard$|hash_type$|test$|default_top$|env_order$)/;

/** Where programs are, for what runs there: those of the directory. */
const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Runs it.
 * @returns What the function returns; a map with `result: False` and what was said if nothing runs there.
 * @throws {CommandError} If there is no such directory, or no executable.
 */
export async function callInside(inside: InsideCall, context: JobContext): Promise<Value> {
  const { root, fun } = inside;
  if (fun === "") throw new CommandError("Missing function parameter");
  if (!isEnvironment(root)) throw new CommandError("Chroot environment not found");
  const directory = Deno.makeTempDirSync({ dir: root, prefix: ".salt_" });
  try {
    const file = await copyExecutable(directory);
    const place = `/${baseName(directory)}`;
    const mark = newMark();
    const cmd =
      `SALT_UNPACK_DIR=${place}; export SALT_UNPACK_DIR; exec ${place}/${file} --as salt-ssh-host ${mark} ${place}`;
    const { return: value, retcode } = await runInChroot(
      { root, cmd, binds: null, runas: null, group: null },
      context,
      (words) => runProcess(words.map(str), { mark, inside, context }),
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
  const { path, file } = await new Executables({ ssh_executables: new Map() }, directory).usual();
  using source = await Deno.open(path);
  using copy = openToWrite(`${directory}/${file}`, { mode: 0o700 });
  await source.readable.pipeTo(copy.writable);
  return file;
}

async function runProcess(
  words: readonly string[],
  { mark, inside, context }: { readonly mark: string; readonly inside: InsideCall; readonly context: JobContext },
): Promise<HostReturn> {
  const { signal } = context;
  signal.throwIfAborted();
  await using child = new LocalProcess(words, { mark, env: { PATH: SEARCH_PATH, HOME: "/root", LANG: "C.UTF-8" } });
  const kill = () => child.kill();
  signal.addEventListener("abort", kill);
  context.child(child.pid, "started");
  try {
    await child.line();
    return await followHost(child, hostCall(inside, context), {
      name: inside.root,
      answer: answers(inside.pillar, context),
      log: ({ level, message }) => context.log(level >= LEVEL_NUMBERS.error ? "error" : "warning", message),
    });
  } finally {
    signal.removeEventListener("abort", kill);
    context.child(child.pid, "ended");
    signal.throwIfAborted();
  }
}

/** The call; the process there is this minion, with the grains that are set by hand. */
function hostCall({ fun, arg, syncs }: InsideCall, { opts, job }: JobContext): SshCall {
  const minionOpts = [...optsValues(opts)].filter(([name]) => IS_OPTION_OF_STATES.test(str(name)));
  return {
    id: opts.id ?? "",
    fun,
    arg,
    jid: str(job.jid ?? ""),
    minionOpts: new Map(minionOpts),
    grains: new Map([...readGrainsFile(opts.config_dir), ...opts.grains]),
    logLevel: LEVEL_NUMBERS.warning,
    syncs,
  };
}

/** Answers as a master: the pillar is known, and the rest is this minion's master's. */
function answers(pillar: ValueMap, context: JobContext): (load: ValueMap) => Promise<Value> {
  const request = fileRequests(context);
  return async (load) => {
    const cmd = str(load.get("cmd") ?? "");
    if (cmd === "_pillar") return pillar;
    if (Object.hasOwn(FILE_COMMANDS, cmd) || PASSED_ON.includes(cmd)) return await request(load);
    throw new CommandError(`${cmd} needs a master: a function in another root directory has none`);
  };
}
