/**
 * All connections of a minion to its masters: one, or with a list of masters one for each. A job's return, its events
 * and its requests go to the master that gave it; what is the minion's own goes to every master that is connected.
 * Source: Salt 3008.3 `salt/minion.py` MinionManager; docs/masters.md.
 * @module
 */

import {
  AuthenticationError,
  MasterLeftError,
  NoMasterError,
  RequestTimeoutError,
  RequestTooLargeError,
  WireError,
} from "#lib/errors.ts";
import { FROM_MASTER, OWN_JOB } from "#lib/protocol/own_job.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import type { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import type { Returns } from "./unsent_returns.ts";

/** Requests that concern all masters: events, and the mine. Source: `salt/minion.py` handle_event. */
const FOR_ALL: readonly Value[] = ["_minion_event", "_mine", "_mine_delete", "_mine_flush"];

/** The connections of one minion, at least one. */
export class Masters {
  readonly all: readonly MasterConnection[];

  /** @param all In the order of the option `master`. */
  constructor(all: readonly MasterConnection[]) {
    this.all = all;
  }

  /** Whether there are several connections at once. */
  get isMany(): boolean {
    return this.all.length > 1;
  }

  /** The one whose pillar is the minion's own, for beacons, the schedule and its own jobs: the first that gave one. */
  get leader(): MasterConnection {
    return this.all.find(({ pillar }) => pillar !== undefined) ?? this.all[0];
  }

  /** Those that are connected; the first, if none is. */
  get connected(): readonly MasterConnection[] {
    const connected = this.all.filter((connection) => connection.connected);
    return connected.length > 0 ? connected : [this.all[0]];
  }

  /** The connection to the master that gave a job; for a job of the minion's own the first that is connected. */
  of(job: ValueMap | undefined): MasterConnection {
    if (!this.isMany) return this.all[0];
    const name = job?.get(FROM_MASTER);
    return this.all.find((connection) => connection.name === name) ?? this.connected[0];
  }

  /**
   * Sends a request of a job.
   * @throws What `MasterLink.request` throws.
   */
  async request(load: ValueMap, job: ValueMap | undefined): Promise<Value> {
    const own = this.of(job);
    if (!this.isMany || !FOR_ALL.includes(load.get("cmd") ?? null)) return await own.request(load);
    const receivers = this.connected;
    const answers = await Promise.allSettled(receivers.map((connection) => connection.request(load)));
    const answer = answers[Math.max(0, receivers.indexOf(own))];
    const first = answer.status === "fulfilled" ? answer : answers.find(({ status }) => status === "fulfilled");
    if (first?.status === "fulfilled") return first.value;
    throw answer.status === "rejected" ? answer.reason : new WireError("No master has answered");
  }

  /**
   * Sends a request to every master that is connected, each of which must acknowledge it.
   * @throws What `MasterConnection.ask` throws, if none has.
   */
  async askAll(load: ValueMap): Promise<void> {
    const receivers = this.connected;
    if (receivers.length === 1) return await receivers[0].ask(load);
    const outcomes = await Promise.allSettled(receivers.map((connection) => connection.ask(load)));
    const [failure] = outcomes.filter((outcome) => outcome.status === "rejected");
    if (failure !== undefined && outcomes.every(({ status }) => status === "rejected")) throw failure.reason;
  }

  /** Where the returns of jobs wait: those of the minion's own jobs for each master. */
  get returns(): Returns {
    return {
      add: (returned, job) => {
        const receivers = this.isMany && job.has(OWN_JOB) ? this.all : [this.of(job)];
        for (const { spool } of receivers) spool.add(returned);
      },
      jids: () => new Set(this.all.flatMap(({ spool }) => [...spool.jids()])),
    };
  }

  /** Returns that wait. */
  get waiting(): number {
    return this.all.reduce((sum, { spool }) => sum + spool.size, 0);
  }

  /** Notes in the load of a job from which master it came. */
  mark(load: ValueMap, from: MasterConnection): void {
    if (this.isMany) load.set(FROM_MASTER, from.name);
    else load.delete(FROM_MASTER);
  }

  /** What each connection does, a line each. */
  describe(): string[] {
    const state = (connection: MasterConnection) => connection.listening ? "listening for jobs" : "signing in";
    if (!this.isMany) return [state(this.all[0])];
    return this.all.map((connection) => `${connection.name}: ${state(connection)}`);
  }

  /** Closes all sockets. */
  close(): void {
    for (const connection of this.all) connection.close();
  }

  /** Leaves what waits to the next process. */
  async closeSpools(): Promise<void> {
    await Promise.all(this.all.map(({ spool }) => spool.close()));
  }
}

/**
 * The connections of a minion that must have some.
 * @throws {NoMasterError} If it has none (`master_type: disable`).
 */
export function connectedMasters(masters: Masters | undefined): Masters {
  if (masters === undefined) throw new NoMasterError("This minion has no master (master_type: disable)");
  return masters;
}

/** Whether a master or the connection to it may cause this error at any time. */
export function isMasterTrouble(error: unknown): error is Error {
  const kinds = [RequestTimeoutError, RequestTooLargeError, WireError, AuthenticationError, MasterLeftError];
  return kinds.some((kind) => error instanceof kind);
}
