/**
 * The threads of a minion's beacons, one for each set of permissions that they declare. The first one has none, and
 * says which others are needed. A thread that does not answer is replaced; the beacon that it had begun is named, and
 * stays stopped until the configuration of beacons is loaded again.
 * @module
 */

import { messageOf, WireError } from "#lib/errors.ts";
import { pack, unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { permissionKey, type Permissions, workerPermissions } from "#lib/plugins/permissions.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { Thread } from "#lib/runtime/thread.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import {
  type BeaconThreadInit,
  type FromBeacons,
  LookNote,
  parseFromBeacons,
  type ToBeacons,
} from "./beacon_messages.ts";

/** Interval of the checks whether the threads answer, and how long they may take, in milliseconds. */
const CHECK_MS = 30_000, ANSWER_MS = 10_000;
/** Maximum number of threads that were started again because they had died; then beacons stop. */
const MAX_DEATHS = 10;

/** What {@linkcode BeaconThreads} need. */
export interface ThreadParts {
  /** The minion's id. */
  readonly id: string;
  /** The minion's options, for permissions with an option. */
  readonly opts: object;
  readonly loopMs: number;
  readonly log: Logger;
  /** Runs an execution function with the permissions that it declares; packed arguments `args`, `kwargs`. */
  call(fun: string, call: Uint8Array): Promise<Value>;
  /** Takes events, in their order. */
  take(events: readonly ValueMap[]): void;
  /** A beacon with `run_once` has run. */
  once(name: string): void;
  /** The names of the operator's own beacons. */
  own?(): readonly string[];
  /** Where a beacon is configured: file and line, or pillar; `undefined`: it was added while the minion ran. */
  placeOf?(name: string): string | undefined;
  /** The file of a thread. Default: beacon_worker.ts. */
  readonly url?: URL;
  /** Default: 30,000 and 10,000. */
  readonly checkMs?: number;
  readonly answerMs?: number;
}

interface Running {
  readonly thread: Thread<BeaconThreadInit>;
  readonly note: LookNote;
  readonly permissions: Permissions;
}

/** Starts, configures and ends threads of beacons. */
export class BeaconThreads {
  readonly #parts: ThreadParts;
  readonly #threads = new Map<string, Running>();
  /** Beacons that made their thread hang. */
  readonly #stopped = new Set<string>();
  #beacons: ValueMap = new Map();
  #stateRun = false;
  #deaths = 0;
  #timer: Timer | undefined;
  #closed = false;

  constructor(parts: ThreadParts) {
    this.#parts = parts;
  }

  /** Runs what is configured. The first thread is started when there is something. */
  configure(beacons: ValueMap): void {
    this.#beacons = beacons;
    if (this.#closed || (beacons.size === 0 && this.#threads.size === 0)) return;
    if (this.#threads.size === 0) this.#start("none");
    else for (const running of this.#threads.values()) this.#configure(running);
  }

  /** Starts all threads anew, with the beacons that were stopped because they hung. */
  async restart(): Promise<void> {
    this.#stopped.clear();
    this.#deaths = 0;
    const old = [...this.#threads.values()];
    this.#threads.clear();
    await Promise.all(old.map(({ thread }) => thread.stop()));
    this.configure(this.#beacons);
  }

  /** Whether a job runs states. */
  set stateRun(running: boolean) {
    if (this.#stateRun === running) return;
    this.#stateRun = running;
    for (const one of this.#threads.values()) this.#post(one, { kind: "state_run", running });
  }

  #post({ thread }: Running, message: ToBeacons): void {
    thread.post(message);
  }

  #configure(running: Running): void {
    const beacons = pack(this.#beacons), own = [...this.#parts.own?.() ?? []];
    this.#post(running, { kind: "configure", beacons, stopped: [...this.#stopped], own });
  }

  #start(permissions: Permissions): void {
    const key = permissionKey(permissions), note = new LookNote();
    if (this.#closed || this.#threads.has(key)) return;
    const { id, opts, loopMs, log } = this.#parts;
    const running: Running = {
      note,
      permissions,
      thread: new Thread<BeaconThreadInit>({
        name: this.#threads.size === 0 ? "Beacons" : `Beacons-${this.#threads.size}`,
        url: this.#parts.url ?? new URL("./beacon_worker.ts", import.meta.url),
        init: { id, loopMs, permissions, note: note.memory },
        permissions: workerPermissions(permissions, { opts, modules: [] }),
        log: log.named("salt.beacons"),
        onDeath: (reason) => this.#onDeath(key, running, reason),
        onMessage: (message) => this.#receive(running, message),
      }),
    };
    this.#threads.set(key, running);
    this.#post(running, { kind: "state_run", running: this.#stateRun });
    this.#configure(running);
    this.#timer ??= setInterval(() => void this.#check(), this.#parts.checkMs ?? CHECK_MS);
  }

  #receive(running: Running, message: unknown): void {
    try {
      this.#handle(running, parseFromBeacons(message));
    } catch (error) {
      if (!(error instanceof WireError || error instanceof TypeError)) throw error;
      this.#parts.log.error(`A thread of beacons sent an invalid message: ${error.message}`);
    }
  }

  #handle(running: Running, message: FromBeacons): void {
    switch (message.kind) {
      case "found": {
        const events = unpackValue(message.events);
        return this.#parts.take(Array.isArray(events) ? events.filter(isMap) : []);
      }
      case "elsewhere":
        return this.#start(message.permissions);
      case "once":
        return this.#parts.once(message.name);
      case "mistake":
        return this.#report(message.name, message);
      case "call":
        return void this.#call(running, message.id, message);
    }
  }

  /** Salt's words for a beacon that cannot run, with the place where it is written. */
  #report(name: string, { text, runs }: { readonly text: string; readonly runs: boolean }): void {
    const log = this.#parts.log.named("salt.beacons"), place = this.#parts.placeOf?.(name);
    const where = place === undefined ? "" : `${place}: `;
    if (runs) log.warning(`${where}Beacon ${name}: ${text}`);
    else log.error(`${where}Beacon ${name} configuration invalid, not running.\n${text}`);
  }

  async #call(running: Running, id: number, { fun, call }: { readonly fun: string; readonly call: Uint8Array }) {
    try {
      this.#post(running, { kind: "result", id, value: pack(await this.#parts.call(fun, call)) });
    } catch (error) {
      this.#post(running, { kind: "refused", id, reason: messageOf(error) });
    }
  }

  /** Ends threads that do not answer: a call of the system may hang for ever, as on a file system that is away. */
  async #check(): Promise<void> {
    const answerMs = this.#parts.answerMs ?? ANSWER_MS;
    await Promise.all([...this.#threads].map(async ([key, running]) => {
      const answer = await running.thread.describe(answerMs);
      if (!answer.startsWith("busy:") || this.#threads.get(key) !== running) return;
      const name = running.note.last;
      this.#replace(
        key,
        running,
        `it has not ended in ${answerMs / 1000} seconds, and its thread does not answer`,
        name,
      );
    }));
  }

  #onDeath(key: string, running: Running, reason: string): void {
    if (this.#threads.get(key) === running) {
      this.#replace(key, running, `its thread died: ${reason}`, running.note.last);
    }
  }

  /** The other beacons of the thread go on in another one. */
  #replace(key: string, running: Running, reason: string, name: string): void {
    running.thread.kill();
    this.#threads.delete(key);
    const { id, log } = this.#parts;
    log.error(`Beacon ${name || "?"} is stopped: ${reason}`);
    if (name !== "") {
      this.#stopped.add(name);
      const data = map({ id, error: reason });
      this.#parts.take([map({ tag: `salt/beacon/${id}/${name}/`, data, beacon_name: name, error: reason })]);
    }
    this.#deaths++;
    if (this.#deaths > MAX_DEATHS) return log.error("No beacon runs any more: too many of their threads have died");
    this.#start(running.permissions);
  }

  /** The current activity of each thread, one line each. */
  async describe(): Promise<string[]> {
    return await Promise.all(
      [...this.#threads.values()].map(async ({ thread }) => `${thread.name}: ${await thread.describe()}`),
    );
  }

  /** Ends all threads. */
  async close(budget: TimeBudget = new TimeBudget(1_000)): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    const all = [...this.#threads.values()];
    this.#threads.clear();
    await Promise.all(all.map(({ thread }) => thread.stop(budget)));
  }
}
