/**
 * The minion's side of authentication: the `_auth` request, and all checks of the reply before a key is trusted. At the
 * first contact the master's key is trusted (unless `master_finger` names another) and stored in `minion_master.pub`;
 * from then on a master with another key is refused. Knows no sockets and no retries.
 * Source: docs/protocol.md "What a minion checks".
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { base64Bytes } from "#lib/crypto/base64.ts";
import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, KeyError, MsgpackError, SignInError, WireError } from "#lib/errors.ts";
import type { MinionPair } from "#lib/keys/minion_pair.ts";
import { packStatements } from "#lib/keys/key_statement.ts";
import { NEXT_MASTER, NEXT_MINION } from "#lib/protocol/next_key.ts";
import { REKEY } from "#lib/protocol/rekey.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { decode } from "#lib/values/msgpack.ts";
import { asBytes, clearRequest, stringField, UNAUTHENTICATED_BOUNDS } from "#lib/protocol/payload.ts";
import { type EncryptionAlgorithm, type PrivateKey, PublicKey, type SigningAlgorithm } from "#lib/crypto/rsa.ts";
import { fingerprint, samePem } from "#lib/crypto/pem.ts";
import { announcedKey, keepAnnouncedKey, MasterStatements, type SigningMaster } from "#lib/keys/master_trust.ts";
import { isMap, map, repr, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Minimum valid value of a master's `max_request_bytes`. */
const MIN_REQUEST_LIMIT = 65_536;

/** The result of a sign-in: both keys, and the publish port. */
export interface SignInCredentials extends SigningMaster {
  /** Key string for publishes. */
  readonly sharedKey: string;
  /** Key string for this minion's own requests. */
  readonly sessionKey: string;
  /** The port of the master's PUB socket. */
  readonly publishPort: number;
  /** Bytes of the largest request that the master accepts. Absent if it does not tell, as Python's. */
  readonly maxRequestBytes?: number;
  /** Whether the master gives a new shared key without a sign-in. Absent if it does not tell, as Python's. */
  readonly canRekey?: boolean;
}

/** The master's reply to a sign-in, except a final refusal. */
export type SignInReply =
  | { readonly kind: "accepted"; readonly credentials: SignInCredentials }
  /** The key waits for the operator. */
  | { readonly kind: "pending" }
  /** The master has `max_minions` connections. */
  | { readonly kind: "full" }
  /** The operator has rejected or denied the key. */
  | { readonly kind: "rejected" };

/** A minion's data for a sign-in. */
export interface Applicant {
  readonly id: string;
  /** The directory of its keys. */
  readonly pkiDir: string;
  /** The name of the file of the trusted master key, without `.pub`. Default: `minion_master`. */
  readonly masterKeyName?: string;
  readonly key: PrivateKey;
  /** Where the key is from, and what leads to it. Default: it is never replaced. */
  readonly pair?: MinionPair;
  /** The algorithm for encrypting the keys in the reply. */
  readonly encAlgorithm: EncryptionAlgorithm;
  /** The algorithm for signing the reply. */
  readonly sigAlgorithm: SigningAlgorithm;
  /** The hash of `masterFinger`. */
  readonly hashType: string;
  /** Fingerprint (hex with colons, any letter case) of the only trusted master key, or "". */
  readonly masterFinger: string;
  /** Whether a master with a new key is trusted if the key in `<masterSignKeyName>.pub` has signed it. */
  readonly verifyMasterPubkeySign: boolean;
  readonly masterSignKeyName: string;
  /** Whether that signature is required from a known master too. */
  readonly alwaysVerifySignature: boolean;
  /** Whether every sign-in is treated as first contact: any master is trusted. */
  readonly openMode: boolean;
  /** Grains by which the master may accept the key. */
  readonly autosignGrains: ValueMap;
}

/** One sign-in; make one for each try. */
export class SignIn {
  readonly #applicant: Applicant;
  readonly #nonce = crypto.randomUUID().replaceAll("-", "");
  readonly #token: string | undefined;
  readonly #knownMaster: string | undefined;
  /** The key that is presented: the reply is encrypted for it, also if the minion takes another meanwhile. */
  readonly #key: PrivateKey;

  /** Reads `minion_master.pub`, if it exists. */
  constructor(applicant: Applicant) {
    this.#applicant = applicant;
    this.#key = applicant.key;
    this.#knownMaster = this.#storedKey();
    // Only a master whose key is known can prove with it that it has the private key.
    this.#token = this.#knownMaster === undefined ? undefined : generateKeyString();
  }

  /** Encodes the request. */
  request(): Uint8Array {
    const { id, encAlgorithm, sigAlgorithm, autosignGrains } = this.#applicant;
    const load = map({ cmd: "_auth", id, nonce: this.#nonce, enc_algo: encAlgorithm, sig_algo: sigAlgorithm });
    if (autosignGrains.size > 0) load.set("autosign_grains", autosignGrains);
    if (this.#token !== undefined && this.#knownMaster !== undefined) {
      const master = this.#readKey(this.#masterKeyPath, this.#knownMaster);
      load.set("token", master.encrypt(encAlgorithm, new TextEncoder().encode(this.#token)));
    }
    load.set("pub", this.#key.publicKey.pem);
    const statements = this.#applicant.pair?.statements ?? [];
    if (statements.length > 0) load.set(NEXT_MINION, packStatements(statements));
    load.set(NEXT_MASTER, this.#knownMaster === undefined ? "" : fingerprint(this.#knownMaster, "sha256"));
    return clearRequest(load);
  }

  /**
   * Verifies the master's reply and decrypts the keys in it.
   * @throws {SignInError} If waiting cannot help: another master key, a wrong fingerprint, an unsupported algorithm.
   * @throws {AuthenticationError} If verification fails.
   * @throws {WireError} If it is not a sign-in reply.
   */
  accept(frame: Uint8Array): SignInReply {
    try {
      return this.#check(frame);
    } catch (error) {
      // An unreadable reply, or one with an invalid key, does not end the minion: any host may have sent it.
      if (error instanceof MsgpackError || error instanceof KeyError) {
        throw new WireError(`no sign-in reply: ${error.message}`);
      }
      throw error;
    }
  }

  #check(frame: Uint8Array): SignInReply {
    const outer = decode(frame, "wire", UNAUTHENTICATED_BOUNDS);
    if (!isMap(outer)) throw new WireError(`the master answered ${repr(outer)} to a sign-in`);
    const load = outer.get("load");
    if (isMap(load)) {
      // An attacker on the network could have made this up; a known master signs its replies. The reply about an
      // unsupported algorithm is never signed, so with a known master it is no reason to end either.
      if (this.#knownMaster !== undefined) {
        throw new AuthenticationError(`The master did not sign its reply ${repr(load.get("ret") ?? null)}`);
      }
      return refusal(load);
    }
    const signed = asBytes(load);
    if (signed === undefined) throw new WireError("a sign-in reply without a load", "load");
    const inner = decode(signed, "wire", UNAUTHENTICATED_BOUNDS);
    if (!isMap(inner)) throw new WireError("a sign-in reply whose load is not a map", "load");
    const statements = inner.has("pub_key") ? new MasterStatements(inner.get(NEXT_MASTER)) : undefined;
    const credentials = statements && this.#credentials(inner, statements);
    this.#checkSignature(signed, asBytes(outer.get("sig")), credentials?.masterKey);
    if (inner.get("nonce") !== this.#nonce) {
      throw new AuthenticationError("The reply does not have the nonce of the sign-in");
    }
    if (statements === undefined || credentials === undefined) return refusal(inner);
    this.#keepMasterKey(credentials.masterKey, statements);
    return { kind: "accepted", credentials };
  }

  #credentials(inner: ValueMap, statements: MasterStatements): SignInCredentials {
    const { encAlgorithm } = this.#applicant, key = this.#key;
    const pem = stringField(inner, "pub_key");
    this.#checkMasterKey(pem, inner.get("pub_sig"), statements);
    const masterKey = PublicKey.fromPem(pem);
    // A master with another, verified key could not decrypt a token that was encrypted for the old key.
    const knowsToken = this.#knownMaster !== undefined && samePem(this.#knownMaster, pem);
    const open = (field: string): string => {
      const sealed = asBytes(inner.get(field));
      if (sealed === undefined) throw new AuthenticationError(`The sign-in reply has no "${field}"`);
      return new TextDecoder().decode(key.decrypt(encAlgorithm, sealed));
    };
    const sharedKey = open("aes");
    const digest = hashHex(sharedKey, "sha256");
    const signature = asBytes(inner.get("sig"));
    if (signature === undefined || new TextDecoder().decode(masterKey.recoverX931(signature)) !== digest) {
      throw new AuthenticationError("The master's signature of the shared key does not hold");
    }
    if (knowsToken && open("token") !== this.#token) {
      throw new AuthenticationError("The master did not return our token: it does not hold its private key");
    }
    const publishPort = inner.get("publish_port");
    if (typeof publishPort !== "number" || !Number.isInteger(publishPort) || publishPort < 1 || publishPort > 65_535) {
      throw new WireError("no publish port in the sign-in reply", "publish_port");
    }
    const sessionKey = open("session");
    for (const keyString of [sharedKey, sessionKey]) new Crypticle(keyString); // throws if it is not a key
    return {
      sharedKey,
      sessionKey,
      publishPort,
      masterKey,
      otherKeys: statements.besides(pem),
      maxRequestBytes: requestLimit(inner),
      canRekey: inner.get(REKEY) === true,
    };
  }

  #storedKey(): string | undefined {
    return this.#applicant.openMode ? undefined : readTextFileIfExists(this.#masterKeyPath);
  }

  get #masterKeyPath(): string {
    const { pkiDir, masterKeyName } = this.#applicant;
    return masterKeyPath(pkiDir, masterKeyName);
  }

  #checkMasterKey(pem: string, pubSig: Value | undefined, statements: MasterStatements): void {
    const { alwaysVerifySignature, verifyMasterPubkeySign, masterFinger, hashType } = this.#applicant;
    // With several masters, another one may have been met first since this sign-in began.
    const knownPem = this.#knownMaster ?? this.#storedKey();
    const changed = knownPem !== undefined && !samePem(knownPem, pem);
    if (verifyMasterPubkeySign !== (pubSig !== undefined)) {
      const who = verifyMasterPubkeySign
        ? "The master does not sign its public key, but verify_master_pubkey_sign is on"
        : "The master signs its public key, but verify_master_pubkey_sign is off";
      throw new SignInError(`${who} on this minion: set both or none`, 42);
    }
    if (verifyMasterPubkeySign) {
      if (changed || knownPem === undefined || alwaysVerifySignature) this.#checkKeySignature(pem, pubSig);
    } else if (changed && !this.#follows(pem, knownPem, statements)) {
      throw new SignInError(
        "The master's key has changed: either the master was set up again, or another host answers in its place. " +
          `Known: ${fingerprint(knownPem, hashType)}, offered: ${
            fingerprint(pem, hashType)
          }. If the new key is right, ` +
          `remove ${this.#masterKeyPath} and start the minion again`,
        42,
      );
    }
    const finger = masterFinger.toLowerCase();
    // Of a master that is known already, the option may name a key that has led to the present one.
    const isNamed = finger === "" || fingerprint(pem, hashType) === finger ||
      (knownPem !== undefined && statements.leadFromFingerprint(finger, hashType, pem));
    if (!isNamed) {
      throw new SignInError(
        `The master's key has the fingerprint ${fingerprint(pem, hashType)}, but master_finger is ${masterFinger}`,
        42,
      );
    }
  }

  /** Whether the known key says that this one follows it, now or before. */
  #follows(pem: string, knownPem: string, statements: MasterStatements): boolean {
    if (statements.leadTo(pem, knownPem)) return true;
    const announced = announcedKey(this.#masterKeyPath);
    return announced !== undefined && samePem(announced, pem);
  }

  #checkKeySignature(pem: string, pubSig: Value | undefined): void {
    const { pkiDir, masterSignKeyName, sigAlgorithm } = this.#applicant;
    const path = `${pkiDir}/${masterSignKeyName}.pub`;
    const signer = readTextFileIfExists(path);
    if (signer === undefined) {
      throw new SignInError(`verify_master_pubkey_sign is on, but there is no ${path}`, 42);
    }
    const key = this.#readKey(path, signer);
    if (!key.verify(sigAlgorithm, new TextEncoder().encode(pem), base64Bytes(pubSig) ?? NO_BYTES)) {
      throw new SignInError("The signature of the master's public key does not hold", 42);
    }
  }

  #checkSignature(signed: Uint8Array, sig: Uint8Array | undefined, offered: PublicKey | undefined): void {
    const pem = this.#knownMaster;
    if (offered === undefined && pem === undefined) return; // before the first contact a "wait" cannot be verified
    const master = offered ?? this.#readKey(this.#masterKeyPath, pem ?? "");
    if (sig === undefined || !master.verify(this.#applicant.sigAlgorithm, signed, sig)) {
      throw new AuthenticationError("The master's signature of its reply does not hold");
    }
  }

  #readKey(path: string, pem: string): PublicKey {
    try {
      return PublicKey.fromPem(pem);
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      // No other key is trusted instead: any host may be answering now.
      const why = pem.replaceAll("\0", "").trim() === ""
        ? "it is empty, as a power failure may leave a file: remove it, and the minion trusts the master that it meets then"
        : error.message;
      throw new SignInError(`${path}: ${why}`, 42);
    }
  }

  /** Everything is verified: keeps the key, and the one that it announces. */
  #keepMasterKey({ pem }: PublicKey, statements: MasterStatements): void {
    if (this.#knownMaster === undefined || !samePem(this.#knownMaster, pem)) {
      writeFileAtomic(this.#masterKeyPath, pem, { mode: 0o644, sync: true });
    }
    if (!this.#applicant.openMode) {
      keepAnnouncedKey(this.#masterKeyPath, statements.after(pem));
    }
  }
}

/** The master's limit for requests; a value below the minimum of the option is ignored. */
function requestLimit(inner: ValueMap): number | undefined {
  const limit = toNumber(inner.get("max_request_bytes"));
  return limit !== undefined && Number.isSafeInteger(limit) && limit >= MIN_REQUEST_LIMIT ? limit : undefined;
}

/** The file of the trusted master key. */
export function masterKeyPath(pkiDir: string, name = "minion_master"): string {
  return `${pkiDir}/${name}.pub`;
}

/** A signature that proves nothing. */
const NO_BYTES = new Uint8Array();

function refusal(load: ValueMap): SignInReply {
  const ret = load.get("ret");
  if (ret === true) return { kind: "pending" };
  if (ret === false) return { kind: "rejected" };
  if (ret === "full") return { kind: "full" };
  if (ret === "bad sig algo" || ret === "bad enc algo") {
    const option = ret === "bad sig algo" ? "signing_algorithm" : "encryption_algorithm";
    throw new SignInError(`The master does not have this minion's ${option}`, 42);
  }
  throw new WireError("a sign-in reply without a result", "ret");
}
