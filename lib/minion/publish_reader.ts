/**
 * What a minion makes of a publish: opened, proved, not seen before, and meant for it; or nothing.
 *
 * Knows the rules, no sockets. Source: salt-protocol.md sections 1, 4 (serial), 6 and 14.
 * @module
 */

import { Crypticle } from "../crypto/crypticle.ts";
import { AuthenticationError, TargetError, WireError } from "../errors.ts";
import { hashHex } from "../crypto/hash.ts";
import { isJid } from "../protocol/jid.ts";
import { JidMemory, type JidMemoryOptions } from "./jid_memory.ts";
import type { Logger } from "../process/log.ts";
import { parsePublished } from "../protocol/payload.ts";
import { isSigningAlgorithm } from "../crypto/rsa.ts";
import type { Credentials } from "./sign_in.ts";
import { matchesTarget } from "../fleet/target.ts";
import { isMap, str, type Value, type ValueMap } from "../values/value.ts";

/** What a reader goes by. */
export interface ReaderRules {
  /** The minion. */
  readonly id: string;
  /** Whether a publish needs the master's signature (`sign_pub_messages` of the minion). */
  readonly requireSignature: boolean;
  /** How many job ids are remembered at the least (`minion_jid_queue_hwm`). */
  readonly rememberedJids: number;
  /** Where they are kept for the next start; without it, only in memory. */
  readonly jidFile?: string;
  /** Told of each job id. */
  readonly journal?: JidMemoryOptions["journal"];
  /** Called with a job that is new, before it is remembered: what is known to have come must not get lost. */
  admit?(jid: string, load: ValueMap): void;
  /** Where it says what it dropped. */
  readonly log: Logger;
}

/** How many publishes back one may come twice without a word: two subscriptions overlap when a connection is made anew. */
const OVERLAP = 64;

/** Reads publishes under the keys of the last sign-in. */
export class PublishReader {
  readonly #rules: ReaderRules;
  readonly #jids: JidMemory;
  #credentials: Credentials | undefined;
  #crypticle: Crypticle | undefined;
  /** Names the shared key in the file of job ids. */
  #keyName = "";
  #lastSerial = 0;
  /** Job ids of the last publishes, by serial. */
  readonly #recent = new Map<number, Value>();

  /** Reads nothing before {@linkcode trust}. */
  constructor(rules: ReaderRules) {
    this.#rules = rules;
    this.#jids = new JidMemory({
      least: rules.rememberedJids,
      path: rules.jidFile,
      log: rules.log,
      journal: rules.journal,
    });
  }

  /** Counts job `jid` among those that have come. */
  remember(jid: string): void {
    this.#jids.add(jid);
  }

  /**
   * Takes the keys of a sign-in; a new shared key begins its serials anew. Under one that an earlier process knew they go on
   * behind its last job. @returns Whether the key is a new one.
   */
  trust(credentials: Credentials): boolean {
    const changed = this.#credentials?.sharedKey !== credentials.sharedKey;
    this.#credentials = credentials;
    if (changed) {
      this.#crypticle = new Crypticle(credentials.sharedKey);
      this.#keyName = hashHex(credentials.sharedKey, "sha256").slice(0, 16);
      const { mark } = this.#jids;
      this.#lastSerial = mark?.key === this.#keyName ? mark.serial : 0;
      this.#recent.clear();
    }
    return changed;
  }

  /**
   * The job in `frame` that this minion is to run; `undefined` if there is none for it.
   * @throws {AuthenticationError} If it does not open or prove itself: the master may have a new key.
   * @throws {WireError} If it is no publish at all.
   */
  read(frame: Uint8Array): ValueMap | undefined {
    const { id, log, requireSignature } = this.#rules;
    const { load: sealed, sig, sigAlgorithm } = parsePublished(frame);
    if (this.#crypticle === undefined || this.#credentials === undefined) {
      throw new AuthenticationError("Not signed in");
    }
    if (requireSignature) {
      const signed = sig !== undefined && isSigningAlgorithm(sigAlgorithm) &&
        this.#credentials.masterKey.verify(sigAlgorithm, sealed, sig);
      if (!signed) throw new AuthenticationError("A publish without the master's good signature");
    }
    const load = this.#crypticle.loads(sealed);
    if (!isMap(load)) throw new WireError("a publish whose load is no map", "load");
    const serial = load.get("serial");
    const jid = load.get("jid");
    if (typeof serial === "number" && !this.#isNext(serial, jid ?? null)) return undefined;
    load.delete("serial"); // of the envelope's business, none of the job's
    const tgt = load.get("tgt");
    if (typeof jid !== "string" || tgt === undefined || !load.has("fun") || !Array.isArray(load.get("arg"))) {
      throw new WireError("a publish without tgt, jid, fun or arg", "load");
    }
    if (!isJid(jid)) throw new WireError(`a publish with the job id ${str(jid)}`, "jid");
    try {
      if (!matchesTarget(tgt, str(load.get("tgt_type") ?? "glob"), id)) return undefined;
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      log.warning(`Job ${jid} has a target that this minion cannot match: ${error.message}`);
      return undefined;
    }
    if (this.#jids.has(jid)) {
      log.debug(`Job ${jid} came again; it is run once`);
      return undefined;
    }
    this.#rules.admit?.(jid, load);
    this.#jids.add(jid, typeof serial === "number" ? { key: this.#keyName, serial } : undefined);
    return load;
  }

  /** Whether a publish is above all before it; else it is dropped, with a warning unless it is one of the last once more. */
  #isNext(serial: number, jid: Value): boolean {
    if (serial <= this.#lastSerial) {
      const text = `Dropped a publish with serial ${serial} after ${this.#lastSerial}`;
      if (this.#recent.get(serial) === jid) this.#rules.log.debug(`${text}: it came twice`);
      else this.#rules.log.warning(`${text}: it is a replay`);
      return false;
    }
    this.#lastSerial = serial;
    this.#recent.set(serial, jid);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > OVERLAP) this.#recent.delete(oldest);
    return true;
  }
}
