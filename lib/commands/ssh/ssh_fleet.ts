/**
 * The hosts of the rosters, and the running of functions on them: for `salt-ssh`, for the client `ssh` of the API, and
 * for functions on a host that ask for others.
 * @module
 */

import { ControlAnswers } from "./control_answers.ts";
import { type ControlStores, openStores, rosterSources } from "./roster_sources.ts";
import { runOperatorCall, runsHere } from "./operator_calls.ts";
import { RosterJobs } from "./roster_jobs.ts";
import type { FindHow, PeerHosts } from "./roster_mine.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { HostPillars } from "./host_pillars.ts";
import type { HostEnd, SshWork } from "./ssh_work.ts";
import { messageOf, RosterError, SshError } from "#lib/errors.ts";
import { userToBecome } from "#lib/programs/run_user.ts";
import { eachAtATime } from "#lib/runtime/each_at_a_time.ts";
import { LEVEL_NUMBERS, type Logger } from "#lib/runtime/log.ts";
import { makeKey, makeSshDirectory, type SshPlace } from "#lib/ssh/connection.ts";
import { Executables } from "#lib/ssh/executables.ts";
import { type HostRunOptions, runOnHost, runRaw } from "#lib/ssh/host_run.ts";
import { PreFlightError, type RawOutcome } from "#lib/ssh/pre_flight.ts";
import { defaultKey, readRosterHost, type RosterHost } from "#lib/ssh/roster.ts";
import { hostsOfTarget, readRosters, type RosterSources, SCAN, type SshTarget } from "#lib/ssh/rosters.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** How functions are run, besides what the options of the master say. */
export interface SshFlags {
  /** Whether the executable is copied though it is there. */
  readonly copiesAnew: boolean;
  /** Whether it is copied to a directory with a random name. */
  readonly randomDirectory: boolean;
  /** Whether the public key is added to the user's keys. */
  readonly deploysKey: boolean;
  /** Whether every host is to give a terminal. */
  readonly forcesTty: boolean;
}

/** The flags of a run that asks for nothing. */
export const NO_FLAGS: SshFlags = { copiesAnew: false, randomDirectory: false, deploysKey: false, forcesTty: false };

/** What the hosts are reached with. */
export interface SshSetting {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The user who asks. */
  readonly user: string;
  /** Whether that is an operator, whose `mine.get` and `publish.publish` reach every host. */
  readonly isOperator: boolean;
  readonly flags: SshFlags;
}

/** What one host is to do. */
interface HostJob {
  readonly work: SshWork;
  readonly jid: string;
  /** Answers its requests. */
  readonly answers: ControlAnswers;
}

/** The code of a host without a return. */
const EX_FAILED = 20;

/** The hosts; disposing of it removes the directory of its connections. */
export class SshFleet implements Disposable {
  readonly #setting: SshSetting;
  readonly #stores: ControlStores;
  readonly #sources: RosterSources;
  readonly #place: SshPlace;
  /** For the hosts of the run, and for those that these ask for something. */
  readonly #answers: { readonly hosts: ControlAnswers; readonly peers: ControlAnswers };
  readonly #jobs: RosterJobs;
  readonly #executables: Executables;
  /** What the roster scan had for the targets of the operator. */
  readonly #scanned = new Map<string, Value>();
  /**
   * What compiles pillar, if others would wait for a template that computes without an end: other hosts, or the clients
   * of `salt-api`. Where one host alone would, its start is not worth it.
   */
  #apart: HostPillars | undefined;
  /** Keys that are being made, by path: many hosts need the same one. */
  readonly #keysMade = new Map<string, Promise<void>>();

  constructor(setting: SshSetting) {
    const { opts, log, signal, user } = setting;
    this.#setting = setting;
    this.#stores = openStores(opts, log);
    this.#sources = rosterSources(opts, this.#stores, { log, signal, user });
    const { ignore_host_keys: ignoreHostKeys, no_host_keys: noHostKeys } = opts;
    this.#place = { directory: makeSshDirectory(), ignoreHostKeys, noHostKeys, signal };
    const keepsGrains = opts.minion_data_cache && (Deno.uid() !== 0 || userToBecome(opts.user) === undefined);
    const parts = { ...this.#stores, opts, log, signal, keepsGrains, apart: () => this.#apart };
    const peers = new ControlAnswers(parts);
    this.#jobs = new RosterJobs(this.#peerHosts(), this.#stores.data);
    this.#answers = { hosts: new ControlAnswers({ ...parts, jobs: this.#jobs }), peers };
    this.#executables = new Executables(opts, this.#place.directory);
  }

  /**
   * The entries of the hosts that a target matches; by default of the operator's, in the rosters of the option.
   * @throws {RosterError} If no roster can be read.
   * @throws {TargetError} If the target cannot be read.
   */
  async find(
    target: SshTarget,
    { rosters = this.#setting.opts.roster, isOperator = true }: Partial<FindHow> = {},
  ): Promise<Map<string, Value>> {
    const opts = { ...this.#setting.opts, roster: [...rosters] };
    const read = await readRosters({ ...this.#sources, opts }, target, isOperator ? undefined : this.#scanned);
    const scanned = isOperator ? read.find(({ name }) => name === SCAN)?.entries ?? [] : [];
    for (const [id, entry] of scanned) this.#scanned.set(id, entry);
    return hostsOfTarget(read, target, { opts, data: this.#stores.data });
  }

  /** Runs something on hosts, some at a time. What comes after the end of the signal is left out. */
  async run(
    hosts: ReadonlyMap<string, Value>,
    job: { readonly work: SshWork; readonly jid: string },
    onEnd: (end: HostEnd) => void,
  ): Promise<void> {
    const { opts, signal, isOperator, log } = this.#setting;
    if (hosts.size > 1 || !isOperator) this.#apart ??= new HostPillars(opts, log);
    await eachAtATime([...hosts], opts.ssh_max_procs, async ([id, entry]) => {
      if (signal.aborted) return;
      const end = await this.#endOf(id, entry, { ...job, answers: this.#answers.hosts });
      if (!signal.aborted) onEnd(end);
    });
    await this.#jobs.ended();
  }

  /** The end of the work on one host; a failure has its text in place of a return. */
  async #endOf(
    id: string,
    entry: Value,
    { work, jid, answers }: HostJob,
  ): Promise<HostEnd> {
    const { opts, log, flags, signal } = this.#setting;
    try {
      const read = readRosterHost(id, entry, { opts, warn: (text) => log.warning(text) });
      const host = flags.forcesTty ? { ...read, tty: true } : read;
      if (host.priv !== null && host.priv === defaultKey(opts)) await this.#makeKey(host.priv);
      return { id, ...await ("raw" in work ? this.#raw(host, work.raw) : this.#call(host, { work, jid, answers })) };
    } catch (error) {
      if (signal.aborted) return { id, return: null, retcode: EX_FAILED };
      if (!(error instanceof SshError || error instanceof RosterError)) {
        log.error(`${id}: ${messageOf(error)}`);
        if (!(error instanceof Error)) throw error;
      }
      if (error instanceof PreFlightError) return { id, ...rawEnd(error.outcome), failure: error.kind };
      if (error instanceof SshError) log.info(`${id}: ${error.kind}`);
      const failure = error instanceof SshError ? error.kind : error instanceof RosterError ? "roster" : "other";
      return { id, return: messageOf(error), retcode: EX_FAILED, failure };
    }
  }

  async #raw(host: RosterHost, words: readonly string[]): Promise<Omit<HostEnd, "id">> {
    return rawEnd(await runRaw(host, words, this.#hostOptions(this.#answers.hosts)));
  }

  async #call(
    host: RosterHost,
    { work, jid, answers }: HostJob & { readonly work: Exclude<SshWork, { readonly raw: readonly string[] }> },
  ): Promise<Omit<HostEnd, "id">> {
    const { log, isOperator } = this.#setting;
    if (isOperator && answers === this.#answers.hosts && runsHere(work.fun)) {
      const regularMine = (load: ValueMap, id: string) => answers.regularMine(load, id);
      return await runOperatorCall(work, host.id, { hosts: this.#peerHosts(), mine: this.#jobs.mine, regularMine });
    }
    // What fails is in the return. As in Salt, the host's own log is shown only to who asks for more than warnings.
    const logLevel = log.lowest < LEVEL_NUMBERS.warning ? log.lowest : LEVEL_NUMBERS.quiet;
    const call = { ...work, jid, logLevel, syncs: answers.hasPlugins() };
    return await runOnHost(host, call, this.#hostOptions(answers));
  }

  #hostOptions(answers: ControlAnswers): HostRunOptions {
    const { opts, log, flags } = this.#setting;
    return {
      place: this.#place,
      executables: this.#executables,
      controlId: controlId(),
      copiesAnew: flags.copiesAnew,
      wipes: opts.ssh_wipe,
      randomDirectory: flags.randomDirectory,
      deployKey: flags.deploysKey,
      forcesPreFlight: opts.ssh_run_pre_flight,
      answer: (load, id) => answers.answer(load, id),
      log,
    };
  }

  #peerHosts(): PeerHosts {
    const { opts, log } = this.#setting;
    return {
      opts,
      log,
      find: (target, how) => this.find(target, how),
      end: (id, entry, work) => this.#endOf(id, entry, { work, jid: makeJid(), answers: this.#answers.peers }),
      pillar: (id) => this.#answers.peers.pillarOf(id),
    };
  }

  #makeKey(path: string): Promise<void> {
    return this.#keysMade.getOrInsertComputed(path, () => makeKey(path));
  }

  [Symbol.dispose](): void {
    void this.#apart?.close();
    Deno.removeSync(this.#place.directory, { recursive: true });
  }
}

/** The end of a command line, as Salt shows it. */
function rawEnd({ retcode, stdout, stderr }: RawOutcome): Omit<HostEnd, "id"> {
  const failed = retcode === 0 ? {} : { _error: "The command resulted in a non-zero exit code" };
  return { return: map({ stdout, stderr, retcode, parsed: null, ...failed }), retcode };
}

/** Six hexadecimal digits for this host: the first of the UUID of its name, as in Salt. */
function controlId(): string {
  const dns = Uint8Array.fromHex("6ba7b8109dad11d180b400c04fd430c8");
  const name = new TextEncoder().encode(Deno.hostname());
  return hashHex(new Uint8Array([...dns, ...name]), "md5").slice(0, 6);
}
