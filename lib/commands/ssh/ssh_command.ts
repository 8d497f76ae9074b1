/**
 * Runs a command of `salt-ssh` on all hosts of its target, some at a time, and shows each return as it comes.
 * @module
 */

import { callingUser } from "#lib/commands/cli/calling_user.ts";
import { EX_AGGREGATE, EX_NO_MINIONS } from "#lib/commands/cli/exit_codes.ts";
import { userToBecome } from "#lib/programs/run_user.ts";
import { messageOf, RosterError, SshError } from "#lib/errors.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { ControlAnswers } from "./control_answers.ts";
import { makeKey, makeSshDirectory } from "#lib/ssh/connection.ts";
import { LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { Executables } from "#lib/ssh/executables.ts";
import { type HostRunOptions, runOnHost, runRaw } from "#lib/ssh/host_run.ts";
import { defaultKey, readRosterHost, type RosterHost } from "#lib/ssh/roster.ts";
import { hostsOfTarget, readRosters } from "#lib/ssh/rosters.ts";
import { openStores, rosterSources } from "./roster_sources.ts";
import type { SshCommand, SshRun } from "./ssh_run.ts";
import { map, type Value } from "#lib/values/value.ts";

/** What is shown of a host. */
interface HostEnd {
  readonly id: string;
  readonly return: Value;
  readonly retcode: number;
  readonly out?: string;
  readonly errorDetails?: readonly string[];
}

/**
 * Runs it.
 * @returns The exit code.
 */
export async function runSshCommand(command: SshCommand, run: SshRun): Promise<number> {
  const { opts, options, log, io, print } = run;
  const stores = openStores(opts, log);
  const sources = rosterSources(opts, stores, { log, signal: io.signal, user: callingUser() });
  const entries = hostsOfTarget(await readRosters(sources, command.target), command.target, {
    opts,
    data: stores.data,
  });
  if (entries.size === 0) {
    log.error("No matching targets found in roster.");
    return EX_NO_MINIONS;
  }
  if (options.verbose) {
    const text = `Executing job with jid ${command.jid}`;
    io.write(`${text}\n${"-".repeat(text.length)}\n\n\n`);
  }
  const directory = makeSshDirectory();
  try {
    const work = workOf(command, run, { directory, stores });
    const ends: HostEnd[] = [];
    await eachHost([...entries], opts.ssh_max_procs, async ([id, entry]) => {
      if (io.signal.aborted) return;
      const end = await endOf(id, entry, { work, run });
      if (io.signal.aborted) return;
      ends.push(end);
      if (!options.static) show(end, print);
    });
    if (options.static && !io.signal.aborted) {
      const out = ends.find((end) => end.out !== undefined)?.out;
      print(new Map(ends.map((end): [Value, Value] => [end.id, end.return])), { out });
    }
    return ends.every(({ retcode }) => retcode === 0) ? 0 : EX_AGGREGATE;
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

/** Runs the command on one host. */
type Work = (host: RosterHost) => Promise<Omit<HostEnd, "id">>;

function workOf(
  { work, jid }: SshCommand,
  { opts, options, log, io: { signal } }: SshRun,
  { directory, stores }: { readonly directory: string; readonly stores: ReturnType<typeof openStores> },
): Work {
  const { ignore_host_keys: ignoreHostKeys, no_host_keys: noHostKeys } = opts;
  const place = { directory, ignoreHostKeys, noHostKeys, signal };
  if ("raw" in work) {
    return async (host) => {
      const { retcode, ...texts } = await runRaw(host, work.raw, place);
      const failed = retcode === 0 ? {} : { _error: "The command resulted in a non-zero exit code" };
      return { return: map({ ...texts, retcode, parsed: null, ...failed }), retcode };
    };
  }
  const keepsGrains = opts.minion_data_cache && (Deno.uid() !== 0 || userToBecome(opts.user) === undefined);
  const answers = new ControlAnswers({ ...stores, opts, log, signal, keepsGrains });
  const hostOptions: HostRunOptions = {
    place,
    executables: new Executables(opts, directory),
    controlId: controlId(),
    copiesAnew: options.regen_thin,
    wipes: opts.ssh_wipe,
    randomDirectory: options.rand_thin_dir,
    deployKey: options.ssh_key_deploy,
    answer: (load, id) => answers.answer(load, id),
    log,
  };
  // What fails is in the return. As in Salt, the host's own log is shown only to who asks for more than warnings.
  const logLevel = log.lowest < LEVEL_NUMBERS.warning ? log.lowest : LEVEL_NUMBERS.quiet;
  const call = { ...work, jid, logLevel, syncs: answers.hasPlugins() };
  return async (host) => await runOnHost(host, call, hostOptions);
}

/** Six hexadecimal digits for this host: the first of the UUID of its name, as in Salt. */
function controlId(): string {
  const dns = Uint8Array.fromHex("6ba7b8109dad11d180b400c04fd430c8");
  const name = new TextEncoder().encode(Deno.hostname());
  return hashHex(new Uint8Array([...dns, ...name]), "md5").slice(0, 6);
}

/** Calls `act` with each item, at most `max` at a time. */
async function eachHost<T>(items: readonly T[], max: number, act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker));
}

/** The end of the command on a host; a failure has its text in place of a return. */
async function endOf(
  id: string,
  entry: Value,
  { work, run: { opts, options, log, io } }: { readonly work: Work; readonly run: SshRun },
): Promise<HostEnd> {
  try {
    const read = readRosterHost(id, entry, { opts, warn: (text) => log.warning(text) });
    const host = options.tty ? { ...read, tty: true } : read;
    if (host.priv === defaultKey(opts)) await makeKeyOnce(host.priv);
    return { id, ...await work(host) };
  } catch (error) {
    if (io.signal.aborted) return { id, return: null, retcode: EX_AGGREGATE };
    if (!(error instanceof SshError || error instanceof RosterError)) {
      log.error(`${id}: ${messageOf(error)}`);
      if (!(error instanceof Error)) throw error;
    }
    if (error instanceof SshError) log.info(`${id}: ${error.kind}`);
    return { id, return: messageOf(error), retcode: EX_AGGREGATE };
  }
}

/** Keys that are being made, by path: many hosts need the same one. */
const keysMade = new Map<string, Promise<void>>();

function makeKeyOnce(path: string): Promise<void> {
  return keysMade.getOrInsertComputed(path, () => makeKey(path));
}

function show({ id, return: value, out, retcode, errorDetails }: HostEnd, print: SshRun["print"]): void {
  print(new Map([[id, value]]), {
    out,
    retcode,
    ...errorDetails !== undefined && { errorDetails: new Map([[id, errorDetails]]) },
  });
}
