/**
 * What the handlers of an MWorker share: options, keys, sessions, caches, and ways out to the bus and the publisher.
 * @module
 */

import type { Access } from "./access.ts";
import type { Autosign } from "../keys/autosign.ts";
import type { DataCache } from "../fleet/data_cache.ts";
import type { JobStore } from "../jobs/store.ts";
import type { KeyStore } from "../keys/store.ts";
import type { Logger } from "../process/log.ts";
import type { MasterOpts } from "../config/options.ts";
import type { VerifiedTokens } from "../keys/verified_tokens.ts";
import type { PrivateKey } from "../crypto/rsa.ts";
import type { RateLimit } from "./rate_limit.ts";
import type { BoundedMap } from "../values/bounded_map.ts";
import type { SessionKeys } from "../keys/sessions.ts";
import type { SharedKey } from "../keys/shared_key.ts";
import type { SignInTurns } from "./sign_in_turns.ts";
import type { ValueMap } from "../values/value.ts";

/** The services; a test may pass its own. */
export interface MasterServices {
  /** The master's options. */
  readonly opts: MasterOpts;
  /** The port that minions subscribe to. */
  readonly publishPort: number;
  readonly masterKey: PrivateKey;
  /** The key of everything published. */
  readonly sharedKey: SharedKey;
  /** The key of each minion's requests. */
  readonly sessions: SessionKeys;
  /** The minions' public keys. */
  readonly keys: KeyStore;
  /** The tokens that have been checked. */
  readonly verified: VerifiedTokens;
  /** The jobs, and what is kept of them. */
  readonly jobs: JobStore;
  /** Returns that could not be stored and were told, `jid id`: their minions send them again. */
  readonly told: BoundedMap<string, true>;
  /** What is known of each minion. */
  readonly data: DataCache;
  /** Who may publish. */
  readonly access: Access;
  /** Sign-ins of strangers: each costs more than all else that a stranger can ask for. */
  readonly strangers: RateLimit;
  /** Sign-ins of those whose key is accepted, or of whoever says that it is they. */
  readonly signIns: SignInTurns;
  /** Whose key is accepted without an operator. */
  readonly autosign: Autosign;
  /** The thread's log. */
  readonly log: Logger;
  /** Warns of what a peer sent: bounded, for it may send as much as it likes. */
  complain(text: string): void;
  /** Stamps an event and fires it on the master's bus. */
  fire(tag: string, data: ValueMap): Promise<void>;
  /**
   * Resolves when what was stored survives whatever `durability` says: then whoever asked may be told.
   * @throws {StoreError} If it does not.
   */
  durable(): Promise<void>;
  /** Hands a load to the publisher, to be delivered. */
  publish(load: ValueMap, how: DeliveryWish): Promise<void>;
}

/** How a load is to be delivered. */
export interface DeliveryWish {
  /** For whom. */
  readonly minions: readonly string[];
  /** For how long, in milliseconds. */
  readonly ttlMs: number;
  /** Whether the minions that can are to send what commands write, as they write it. */
  readonly live: boolean;
}
