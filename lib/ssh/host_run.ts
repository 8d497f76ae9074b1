/**
 * Runs a function on one host of a roster: begins the executable there, copies it first if it is not there, answers
 * what it asks for, and takes the function's return.
 * @module
 */

import { messageOf, SshError } from "#lib/errors.ts";
import { SshConnection, type SshPlace } from "./connection.ts";
import { type Executables, type HostExecutable, usualDirectory } from "./executables.ts";
import { followHost } from "./follow_host.ts";
import {
  type HostPlace,
  keyCommand,
  lookCommand,
  rawCommand,
  receiveCommand,
  removeCommand,
  startCommand,
} from "./host_scripts.ts";
import { MarkedSession, newMark } from "./marked_session.ts";
import type { HostReturn, SshCall } from "./messages.ts";
import { type RawOutcome, rawOutcome, runPreFlight } from "./pre_flight.ts";
import type { RosterHost } from "./roster.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** What a run has for all of its hosts. */
export interface HostRunOptions {
  readonly place: SshPlace;
  readonly executables: Executables;
  /** Six characters for this control host, in the names of directories on hosts. */
  readonly controlId: string;
  /** Whether the executable is copied though it is there. */
  readonly copiesAnew: boolean;
  /** Whether what was copied is removed at the end. */
  readonly wipes: boolean;
  /** Whether the directory has a random name. */
  readonly randomDirectory: boolean;
  /** Whether the public key is added to the user's keys on hosts with a password. */
  readonly deployKey: boolean;
  /** Whether the script of the roster runs though the directory is there. */
  readonly forcesPreFlight: boolean;
  /** Answers a request of the host `id`, as a master answers a minion. */
  answer(load: ValueMap, id: string): Promise<Value>;
  readonly log: Logger;
}

/**
 * Runs a function.
 * @throws {SshError} If there is no return.
 */
export async function runOnHost(
  host: RosterHost,
  call: Omit<SshCall, "id" | "minionOpts" | "grains">,
  options: HostRunOptions,
): Promise<HostReturn> {
  using connection = await SshConnection.open(host, options.place);
  const { signal } = options.place;
  const give = () => connection[Symbol.dispose]();
  signal.addEventListener("abort", give);
  try {
    const run = new HostRun(connection, host, options);
    if (options.deployKey && host.passwd !== "" && host.priv !== null) await run.deployKey(`${host.priv}.pub`);
    await run.preFlight();
    try {
      return await run.call({ ...call, id: host.id, minionOpts: host.minionOpts, grains: host.grains });
    } finally {
      if ((options.wipes || options.randomDirectory) && !connection.isOver) await run.wipe();
    }
  } finally {
    signal.removeEventListener("abort", give);
    signal.throwIfAborted();
  }
}

/**
 * Runs a command line of the host's shell.
 * @throws {SshError} If there is no connection.
 */
export async function runRaw(
  host: RosterHost,
  words: readonly string[],
  options: HostRunOptions,
): Promise<RawOutcome> {
  const { place } = options;
  using connection = await SshConnection.open(host, place);
  await new HostRun(connection, host, options).preFlight();
  const outcome = await rawOutcome(connection, rawCommand(words), { signal: place.signal });
  if (outcome.retcode === 255 && connection.isOver) {
    throw connection.lost();
  }
  return outcome;
}

/** How often the executable is begun at most: it is looked for, looked for under another name, and copied. */
const MAX_STARTS = 4;

/** One function on one host. */
class HostRun {
  readonly #connection: SshConnection;
  readonly #host: RosterHost;
  readonly #options: HostRunOptions;
  readonly #directory: string;

  constructor(connection: SshConnection, host: RosterHost, options: HostRunOptions) {
    this.#connection = connection;
    this.#host = host;
    this.#options = options;
    // Who runs the function has the directory: sudo's user would not enter another's.
    const user = host.sudo ? host.sudoUser || "root" : host.user;
    this.#directory = options.randomDirectory
      ? `/var/tmp/.salt_${newMark().slice(0, 16)}`
      : host.thinDir ?? usualDirectory(user, options.controlId);
  }

  /** Runs the script of the roster, if the executable's directory is not there yet, or the options want it. */
  async preFlight(): Promise<void> {
    const { preFlight } = this.#host;
    if (preFlight === null) return;
    if (!this.#options.forcesPreFlight && await this.#isThere()) {
      this.#options.log.info(`${this.#host.id}: ${this.#directory} is there, so ssh_pre_flight does not run`);
      return;
    }
    await runPreFlight(this.#connection, this.#host, preFlight, this.#options.place.signal);
  }

  async #isThere(): Promise<boolean> {
    const mark = newMark();
    const command = lookCommand(this.#host, this.#place("none"), mark);
    await using session = new MarkedSession(this.#connection, this.#host, { command, mark });
    return (await session.line()).word === "there";
  }

  /** Runs the function. The executable is copied if the host asks for it. */
  async call(call: SshCall): Promise<HostReturn> {
    const { executables } = this.#options;
    let executable = await executables.usual().catch(unlessMissing);
    let copies = this.#options.copiesAnew;
    for (let starts = 0; starts < MAX_STARTS; starts++) {
      // A name that no host has makes it tell its machine.
      const place = this.#place(copies || executable === undefined ? "none" : executable.file);
      const mark = newMark();
      await using session = new MarkedSession(this.#connection, this.#host, {
        command: startCommand(this.#host, place, mark),
        mark,
      });
      const { word, rest } = await session.line();
      if (word === "run") return await this.#follow(session, call);
      if (word !== "need") throw this.#refused(word, rest);
      const [system, machine = ""] = rest.split(" ");
      const wanted = await executables.of(system, machine);
      const isKnown = wanted.file === executable?.file;
      executable = wanted;
      if (!isKnown && !copies) continue;
      await this.#copy(wanted);
      copies = false;
    }
    throw new SshError("deploy", `The executable is not in ${this.#directory} though it was copied`);
  }

  /**
   * Adds a public key to the user's keys.
   * @param path The file of the public key.
   * @throws {SshError} If that fails.
   */
  async deployKey(path: string): Promise<void> {
    const mark = newMark();
    const key = publicKey(path);
    // The key is for the user who signs in, not for sudo's.
    const host = { ...this.#host, sudo: false };
    await using session = new MarkedSession(this.#connection, host, { command: keyCommand(host, key, mark), mark });
    const { word, rest } = await session.line();
    if (word !== "done") throw new SshError("refused", `The key is not on ${host.host}: ${rest}`);
    this.#options.log.info(`${host.id}: the key ${path} may sign in`);
  }

  /** Removes what was copied. A failure is logged: the function has its return. */
  async wipe(): Promise<void> {
    const mark = newMark();
    try {
      await using session = new MarkedSession(this.#connection, this.#host, {
        command: removeCommand(this.#host, this.#place("none"), mark),
        mark,
      });
      await session.line();
    } catch (error) {
      this.#options.log.warning(`${this.#host.id}: ${this.#directory} is not removed: ${messageOf(error)}`);
    }
  }

  #place(file: string): HostPlace {
    return { directory: this.#directory, file };
  }

  async #copy({ path, size, sum, file }: HostExecutable): Promise<void> {
    const mark = newMark();
    this.#options.log.info(`${this.#host.id}: copies ${path} to ${this.#directory}`);
    await using session = new MarkedSession(this.#connection, this.#host, {
      command: receiveCommand(this.#host, this.#place(file), { mark, size, sum }),
      mark,
    });
    const first = await session.line();
    if (first.word !== "send") throw this.#refused(first.word, first.rest);
    using source = await Deno.open(path);
    for await (const piece of source.readable) if (!await session.write(piece)) break;
    const { word, rest } = await session.line();
    if (word !== "done") throw this.#refused(word, rest);
  }

  #refused(word: string, rest: string): SshError {
    const { host } = this.#host;
    if (word === "noexec") {
      return new SshError(
        "deploy",
        `Programs may not run from ${rest} on ${host} (noexec?): name another directory with thin_dir in the roster`,
      );
    }
    if (word === "fail") return new SshError("deploy", `The executable is not on ${host}: ${rest}`);
    return new SshError("protocol", `${host} sent an unknown word`);
  }

  /** Answers the host until its function has returned. */
  #follow(session: MarkedSession, call: SshCall): Promise<HostReturn> {
    const { log } = this.#options;
    const { id, host } = this.#host;
    return followHost(session, call, {
      name: host,
      answer: (load) => this.#options.answer(load, id),
      log: ({ level, name, message }) => log.write({ level, name, message: `${id}: ${message}`, timeMs: Date.now() }),
    });
  }
}

/** @throws {SshError} If it is no public key. */
function publicKey(path: string): string {
  try {
    const key = Deno.readTextFileSync(path).trim();
    if (/^[a-z][\w@.-]* [\w+/]+=*( [^\n]*)?$/.test(key)) return key;
    throw new Error("it is no public key");
  } catch (error) {
    throw new SshError("refused", `The public key ${path} cannot be read: ${messageOf(error)}`);
  }
}

/** Without an executable for this host's own kind there may be one for the host's. */
function unlessMissing(error: unknown): undefined {
  if (!(error instanceof SshError && error.kind === "no executable")) throw error;
  return undefined;
}
