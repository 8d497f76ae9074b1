/**
 * What the handlers of an MWorker share: options, keys, sessions, caches, and ways out to the bus and the publisher.
 * @module
 */

import type { Access } from "./access.ts";
import type { Autosign } from "./autosign.ts";
import type { DataCache } from "./data_cache.ts";
import type { JobCache } from "./job_cache.ts";
import type { KeyStore } from "./key_store.ts";
import type { Logger } from "./log.ts";
import type { MasterOpts } from "./options.ts";
import type { PrivateKey } from "./rsa.ts";
import type { SessionKeys } from "./session_keys.ts";
import type { SharedKey } from "./shared_key.ts";
import type { ValueMap } from "./value.ts";

/** The services; a test may pass its own. */
export interface MasterServices {
  readonly opts: MasterOpts;
  /** The port that minions subscribe to. */
  readonly publishPort: number;
  readonly masterKey: PrivateKey;
  readonly sharedKey: SharedKey;
  readonly sessions: SessionKeys;
  readonly keys: KeyStore;
  readonly jobs: JobCache;
  readonly data: DataCache;
  readonly access: Access;
  readonly autosign: Autosign;
  readonly log: Logger;
  /** Stamps an event and fires it on the master's bus. */
  fire(tag: string, data: ValueMap): Promise<void>;
  /** Hands a load to the publisher. */
  publish(load: ValueMap): Promise<void>;
}
