/**
 * The database of a cluster, as those use it who tell other masters something or follow what others tell.
 * @module
 */

import type { Client } from "pg";

/**
 * What masters wake each other for: publishes, events, keys, data of minions, secrets, members.
 */
export type WakeKind = "p" | "e" | "k" | "d" | "s" | "m";

/** The database of a cluster, for one master. */
export interface ClusterDatabase {
  /** The schema that all tables are in. */
  readonly schema: string;
  /** This master's number. */
  readonly origin: number;
  /** The number of this run of it, which its writes of leases repeat: higher than that of each run before. */
  readonly incarnation: number;
  /**
   * Runs a transaction in the writing connection, one after the other. It is repeated if the connection broke, also if
   * it was committed and the answer was lost: it must bear that.
   * @param waitMs How long to wait for the database. Default: `job_store_wait`.
   * @throws {DatabaseAwayError} If that time is over.
   */
  write<T>(run: (client: Client) => Promise<T>, waitMs?: number): Promise<T>;
  /**
   * Reads, in a connection whose few writes may be lost in a crash of the server (`synchronous_commit` is off).
   * @throws {DatabaseAwayError} As {@linkcode write}.
   */
  read<T>(run: (client: Client) => Promise<T>, waitMs?: number): Promise<T>;
  /**
   * Calls `look` at first, after each wake-up of that kind, after a reconnection, and from time to time: each 200 ms,
   * for `k`, `d` and `s` each 2 s. Never two at once. A look that throws is logged, and comes again.
   */
  follow(kind: WakeKind, look: () => Promise<void>): void;
  /** Wakes all masters for that kind when the transaction is committed: to be called inside {@linkcode write}. */
  wake(client: Client, kind: WakeKind): Promise<void>;
  /** The live masters besides this one: number → name. */
  readonly peers: ReadonlyMap<number, string>;
  /** Whether the database does not answer. */
  readonly away: boolean;
}
