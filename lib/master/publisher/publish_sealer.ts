/**
 * The envelope of published loads: numbered, encrypted with the shared key, and signed by the master.
 * Source: docs/protocol.md "Publishes".
 * @module
 */

import { encode } from "#lib/values/msgpack.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { MasterPairs } from "#lib/keys/master_pairs.ts";
import type { SharedKey } from "#lib/keys/shared_key.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/**
 * Seals loads, one after the other: minions refuse one whose serial is not above the last. Masters of a cluster, whose
 * minions hear any of them, give none; minions know jobs that come again by their ids.
 */
export class PublishSealer {
  readonly #opts: Pick<MasterOpts, "sign_pub_messages" | "publish_signing_algorithm">;
  readonly #sharedKey: SharedKey;
  readonly #masterKeys: Pick<MasterPairs, "current">;
  readonly #isNumbered: boolean;

  /** Seals under `keys`; the master's key is read with the first load that is signed. */
  constructor(
    opts: Pick<MasterOpts, "sign_pub_messages" | "publish_signing_algorithm">,
    keys: {
      readonly sharedKey: SharedKey;
      readonly masterKeys: Pick<MasterPairs, "current">;
      readonly isNumbered?: boolean;
    },
  ) {
    this.#opts = opts;
    this.#sharedKey = keys.sharedKey;
    this.#masterKeys = keys.masterKeys;
    this.#isNumbered = keys.isNumbered ?? true;
  }

  /** The frame that minions get. */
  seal(load: ValueMap): Uint8Array {
    const { crypticle, serial } = this.#sharedKey.forPublish();
    const sealed = crypticle.dumps(this.#isNumbered ? new Map([...load, ["serial", serial]]) : load);
    const envelope = map({ enc: "aes", load: sealed });
    if (this.#opts.sign_pub_messages) {
      const algorithm = this.#opts.publish_signing_algorithm;
      envelope.set("sig_algo", algorithm);
      envelope.set("sig", this.#masterKeys.current.sign(algorithm, sealed));
    }
    return encode(envelope, "wire");
  }
}
