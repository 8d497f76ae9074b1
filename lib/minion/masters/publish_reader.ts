/**
 * Decides whether a minion runs a published job: decrypts and verifies the publish, and checks that it is new and that
 * its target matches this minion. Knows the rules, no sockets. Source: docs/protocol.md "Publishes",
 * docs/protocol.md "A job on a minion".
 * @module
 */

import { Crypticle } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, KeyError, MsgpackError, TargetError, WireError } from "#lib/errors.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { isJid } from "#lib/protocol/jid.ts";
import type { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import type { CheckedJob } from "#lib/operators/check_job.ts";
import type { OperatorCheck } from "#lib/operators/operator_check.ts";
import { announcedS } from "#lib/protocol/rekey.ts";
import { parsePublished } from "#lib/protocol/payload.ts";
import { isSigningAlgorithm } from "#lib/crypto/rsa.ts";
import { keysOfMaster, signedByMaster, type SigningMaster } from "#lib/keys/master_trust.ts";
import type { SignInCredentials } from "./sign_in.ts";
import { factsOf } from "#lib/targeting/facts.ts";
import { matchesTarget, type TypedTarget } from "#lib/targeting/target.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Settings of a reader. */
export interface ReaderRules {
  readonly id: string;
  /**
   * The current grains and pillar, for targets. `undefined`: jobs for any target are taken, and no operator's signature
   * is checked, as in a syndic. It has to be said: a reader that is given nothing by mistake would check nothing.
   */
  readonly data: (() => { readonly grains: ValueMap; readonly pillar: ValueMap }) | undefined;
  /** Whether a publish must have the master's signature (`sign_pub_messages` of the minion). */
  readonly requireSignature: boolean;
  /** The job ids that this minion has accepted, of all its masters. */
  readonly jids: JidMemory;
  /** Checks the operator's signature. Default: none is asked for. */
  readonly operators?: Pick<OperatorCheck, "check">;
  /**
   * Called with a new job before its id is remembered, so that a remembered job cannot be lost.
   * @param signed What the check of the signature found; none without a check.
   */
  admit?(jid: string, load: ValueMap, signed?: CheckedJob): void;
  /** Called when the master announces a new shared key, which it will use in so many seconds. */
  onAnnouncement?(withinS: number): void;
  /** Called with a job that the check refuses, and why. */
  refuse?(load: ValueMap, why: string, signed: CheckedJob): void;
  /** Logs dropped publishes. */
  readonly log: Logger;
}

/**
 * A publish that is at most this many publishes old may come twice without a warning: two subscriptions overlap after a
 * reconnection.
 */
const OVERLAP = 64;

/** Reads publishes with the keys of the last sign-in. */
export class PublishReader {
  readonly #rules: ReaderRules;
  #credentials: SignInCredentials | undefined;
  #crypticle: Crypticle | undefined;
  /** Identifies the shared key in the file of job ids. */
  #keyName = "";
  #lastSerial = 0;
  /** Job ids of the last publishes, by serial. */
  readonly #recent = new Map<number, Value>();

  /** Reads nothing before {@linkcode trust}. */
  constructor(rules: ReaderRules) {
    this.#rules = rules;
  }

  /**
   * Sets the keys of a sign-in. A new shared key restarts the serials; with a key that an earlier process had, they
   * continue after its last job.
   * @returns Whether the key is new.
   */
  trust(credentials: SignInCredentials): boolean {
    const changed = this.#credentials?.sharedKey !== credentials.sharedKey;
    this.#credentials = credentials;
    if (changed) {
      this.#crypticle = new Crypticle(credentials.sharedKey);
      this.#keyName = hashHex(credentials.sharedKey, "sha256").slice(0, 16);
      this.#lastSerial = this.#rules.jids.lastSerial(this.#keyName);
      this.#recent.clear();
    }
    return changed;
  }

  /** Whether a publish is encrypted with this key. */
  static isFor(frame: Uint8Array, sharedKey: string): boolean {
    try {
      return isMap(new Crypticle(sharedKey).loads(parsePublished(frame).load));
    } catch (error) {
      if ([AuthenticationError, KeyError, MsgpackError, WireError].some((kind) => error instanceof kind)) return false;
      throw error;
    }
  }

  /**
   * The job in `frame` that this minion must run; `undefined` if there is none.
   * @throws {AuthenticationError} If it cannot be decrypted or verified: the master may have a new key.
   * @throws {WireError} If it is not a publish.
   */
  read(frame: Uint8Array): ValueMap | undefined {
    const { log, requireSignature } = this.#rules;
    const { load: sealed, sig, sigAlgorithm } = parsePublished(frame);
    if (this.#crypticle === undefined || this.#credentials === undefined) {
      throw new AuthenticationError("Not signed in");
    }
    if (requireSignature) {
      const signed = sig !== undefined && isSigningAlgorithm(sigAlgorithm) &&
        signedByMaster(this.#credentials, { algorithm: sigAlgorithm, data: sealed, sig });
      if (!signed) throw new AuthenticationError("A publish without a valid signature of the master");
    }
    const load = this.#crypticle.loads(sealed);
    if (!isMap(load)) throw new WireError("a publish whose load is not a map", "load");
    const serial = load.get("serial");
    const jid = load.get("jid");
    // What is no number would be above no serial and below none.
    if (serial !== undefined && !Number.isSafeInteger(serial)) {
      throw new WireError(`a publish with the serial ${truncateValue(serial)}`, "serial");
    }
    if (typeof serial === "number" && !this.#isNext(serial, jid ?? null)) return undefined;
    load.delete("serial"); // part of the envelope, not of the job
    const withinS = announcedS(load);
    if (withinS !== undefined) {
      this.#rules.onAnnouncement?.(withinS);
      return undefined;
    }
    const tgt = load.get("tgt");
    if (typeof jid !== "string" || tgt === undefined || !load.has("fun") || !Array.isArray(load.get("arg"))) {
      throw new WireError("a publish without tgt, jid, fun or arg", "load");
    }
    if (!isJid(jid)) throw new WireError(`a publish with the job id ${str(jid)}`, "jid");
    try {
      const matches = this.#isMeant(load);
      log.debug(() => {
        const target = `${truncateValue(tgt)} (${str(load.get("tgt_type") ?? "glob")})`;
        return `Job ${jid}, ${str(load.get("fun") ?? null)} for ${target}: it is ${
          matches ? "" : "not "
        }for this minion`;
      });
      if (!matches) return undefined;
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      log.warning(`Job ${jid} has a target that this minion cannot match: ${error.message}`);
      return undefined;
    }
    if (this.#rules.jids.has(jid)) {
      log.debug(`Job ${jid} came again; it is run once`);
      return undefined;
    }
    const signed = this.#checkOperator(load, this.#credentials);
    if (signed?.refused !== undefined) {
      this.#rules.refuse?.(load, signed.refused, signed);
      return undefined;
    }
    this.#rules.admit?.(jid, load, signed);
    this.#rules.jids.add(jid, typeof serial === "number" ? { key: this.#keyName, serial } : undefined);
    return load;
  }

  /** @throws {TargetError} If the target cannot be read. */
  #isMeant(load: ValueMap): boolean {
    const delimiter = load.get("delimiter");
    const target = { tgt: load.get("tgt") ?? null, tgtType: str(load.get("tgt_type") ?? "glob") };
    return this.#matches(target, typeof delimiter === "string" ? delimiter : undefined);
  }

  #matches(target: TypedTarget, delimiter: string | undefined): boolean {
    const data = this.#rules.data?.();
    if (data === undefined) return true;
    const subject = { id: this.#rules.id, grains: factsOf(data.grains), pillar: factsOf(data.pillar) };
    return matchesTarget(target, subject, { delimiter });
  }

  /** Checks a signature, which is no part of the job. A syndic hands it on. */
  #checkOperator(load: ValueMap, master: SigningMaster): CheckedJob | undefined {
    if (this.#rules.data === undefined) return undefined;
    const op = load.get(OP);
    if (op !== undefined) load.delete(OP);
    const matches = (target: TypedTarget, delimiter: string | undefined) => this.#matches(target, delimiter);
    return this.#rules.operators?.check(load, op, {
      masterPems: keysOfMaster(master, Date.now()).map(({ pem }) => pem),
      matches,
    });
  }

  /**
   * Whether a publish has a higher serial than all before; otherwise it is dropped, with a warning unless it is a
   * repetition of a recent one.
   */
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
