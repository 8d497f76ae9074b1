/**
 * A subject of what the Cluster thread of a master does: it has what all of them share, and answers requests of the
 * other threads.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import type { SharedKey } from "#lib/keys/shared_key.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { ValueMap } from "#lib/values/value.ts";
import type { ClusterDatabase } from "./cluster_database.ts";
import type { ClusterHandlers } from "./cluster_messages.ts";
import type { RootKeys } from "./cluster_secrets.ts";
import type { ClusterMembership } from "./join.ts";
import type { LeaseFlags } from "./lease_flags.ts";

/** What the subjects share. */
export interface ClusterContext {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** When this master was started, in milliseconds since the epoch. */
  readonly startedMs: number;
  readonly database: ClusterDatabase;
  readonly keys: RootKeys;
  readonly flags: LeaseFlags;
  readonly membership: ClusterMembership;
  /** What undelivered jobs are sealed with. */
  readonly jobSecret: string;
  /** The publish key, which only this thread changes in a cluster. */
  readonly sharedKey: SharedKey;
  /** Stamps an event and fires it on this master's bus. */
  fire(tag: string, data: ValueMap): Promise<void>;
  /** Sends a message to the main thread. */
  post(message: unknown): void;
}

/** One subject. */
export interface ClusterPart {
  /** The requests of other threads that it answers. */
  readonly handlers?: ClusterHandlers;
  /** Ends it, before the database is closed. */
  close?(): Promise<void>;
}
