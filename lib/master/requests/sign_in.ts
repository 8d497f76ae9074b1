/**
 * The master's side of authentication: handles an `_auth` request, decides and stores the state of its key, and
 * replies. Every request is answered, also those that end a worker of Salt. The rules are in lib/keys/rules.ts.
 * Source: docs/protocol.md "Sign-in".
 * @module
 */

import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { truncate } from "#lib/text/truncate.ts";
import { connectedAddresses } from "#lib/fleet/connected_ids.ts";
import { AuthenticationError, KeyError, messageOf, WireError } from "#lib/errors.ts";
import { AUTH_EVENT } from "#lib/protocol/tags.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { decideKey, type Decision } from "#lib/keys/rules.ts";
import { SIGNATURE_NAME } from "#lib/keys/master_signature.ts";
import { packStatements, pathOfKeys, readStatements } from "#lib/keys/key_statement.ts";
import { MAX_MINION_STATEMENTS } from "#lib/keys/minion_pair.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { forgetFollower, noteFollower } from "#lib/keys/followers.ts";
import { isTruncatedKey } from "#lib/keys/store.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import type { AuthServices, Needs } from "./services.ts";
import { encode } from "#lib/values/msgpack.ts";
import { opensslEncrypt } from "#lib/crypto/openssl_rsa.ts";
import { NEXT_MASTER, NEXT_MINION } from "#lib/protocol/next_key.ts";
import { REKEY } from "#lib/protocol/rekey.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import {
  type EncryptionAlgorithm,
  isEncryptionAlgorithm,
  isSigningAlgorithm,
  PrivateKey,
  PublicKey,
  type SigningAlgorithm,
} from "#lib/crypto/rsa.ts";
import { samePem } from "#lib/crypto/pem.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Bytes that a minion's key must be able to encrypt. */
const KEY_STRING_BYTES = 76;
/** Keys of 2,048 bits or more can encrypt that with any algorithm. */
const ROOMY_KEY_BYTES = 256;
/** Bytes of grains in the event of a sign-in: whoever reaches the master can send one. */
const MAX_SHOWN_GRAINS = 16 * 1024;

/** What a sign-in needs. */
export type SignInNeeds = Needs<"auth" | "minions" | "opts" | "log" | "warn" | "fire" | "park">;

/** A sign-in request with checked fields. */
interface Application {
  readonly id: string;
  readonly pem: string;
  readonly nonce: Value;
  readonly encAlgorithm: EncryptionAlgorithm | undefined;
  readonly sigAlgorithm: SigningAlgorithm | undefined;
  readonly token: Uint8Array | undefined;
  readonly autosignGrains: ValueMap | undefined;
  /** Whether the reply is signed and contains the nonce: from version 2 on. */
  readonly signed: boolean;
  /**
   * The fingerprint of the master's key that the minion trusts, empty if it trusts none; `undefined`: it follows no
   * statements about the next one, as Salt's minions.
   */
  readonly trusts: string | undefined;
  /** What leads from earlier keys of the minion to the presented one. */
  readonly follows: Value | undefined;
}

/**
 * Answers an `_auth` request. `undefined`: no answer, because too many unknown keys sign in, or the same request comes
 * too often; the minion will ask again.
 * @throws {WireError} If the request has no id, or from version 2 on no nonce.
 */
export async function signInMinion(
  load: ValueMap,
  version: number,
  services: SignInNeeds,
): Promise<Value | undefined> {
  const { auth, log, opts } = services;
  const wanted = parseApplication(load, version);
  const isAccepted = isKnown(wanted, auth);
  const turn = isAccepted ? auth.signInTurns.take(wanted.id, nonceText(wanted.nonce)) : auth.signInLimit.take();
  if (turn === "first refused") {
    if (isAccepted) services.warn(`Too many sign-ins of ${truncate(wanted.id)}; they get no answer for now`);
    else {log.warning(
        `More than ${opts.max_sign_ins} unknown keys a second sign in (max_sign_ins): the others get no answer`,
      );}
  }
  if (turn !== "granted") return undefined;
  if (wanted.signed && wanted.sigAlgorithm === undefined) return badAlgorithm("sig");
  if (wanted.encAlgorithm === undefined) return badAlgorithm("enc");
  const { id, pem } = wanted;
  const key = usableKey(pem, wanted.encAlgorithm);
  const trusted = wanted.trusts === undefined ? trustedKey(wanted, auth) : undefined;
  const decision = decide(wanted, key !== undefined, services);
  log[decision.ret === "accepted" || decision.ret === true ? "info" : "warning"](
    `Authentication request from ${truncate(id)}: ${decision.because}`,
  );
  try {
    const isStored = decision.store === undefined || await storeKey(wanted, decision.store, services);
    if (!isStored) throw new KeyError("another key was stored meanwhile");
  } catch (error) {
    log.error(`The key of ${id} could not be stored: ${messageOf(error)}`);
    // The decision is not final: the minion asks again, as while its key is pending.
    return seal(
      map({ ret: decision.ret === "accepted" ? true : decision.ret }),
      wanted,
      refusalKey(wanted, auth, trusted),
    );
  }
  if (decision.act !== undefined && opts.auth_events) {
    const result = decision.ret === true || decision.ret === "accepted";
    await services.fire(
      AUTH_EVENT,
      map({ result, act: decision.act, id, pub: pem, ...shownGrains(wanted, decision.act, opts) }),
    );
  }
  if (decision.ret !== "accepted" || key === undefined) {
    return seal(
      map({ ret: decision.ret === "accepted" ? false : decision.ret }),
      wanted,
      refusalKey(wanted, auth, trusted),
    );
  }
  const masterKey = trusted ?? auth.masterKeys.newest, announced = auth.masterKeys.next?.publicKey.pem;
  const reply = keysFor(wanted, key, wanted.encAlgorithm, { ...services, masterKey });
  if (wanted.trusts !== undefined) {
    reply.set(NEXT_MASTER, packStatements(auth.masterKeys.statements));
  }
  if (trusted === undefined || trusted === auth.masterKeys.next) noteFollower(id, announced, opts.cachedir);
  else forgetFollower(id, announced, opts.cachedir);
  return seal(reply, wanted, masterKey);
}

/** The key that the minion can check a refusal with. */
function refusalKey(
  { trusts }: Application,
  { masterKeys }: AuthServices,
  trusted: PrivateKey | undefined,
): PrivateKey {
  return trusted ?? masterKeys.withFingerprint(trusts ?? "") ?? masterKeys.newest;
}

/**
 * The key that a minion without statements trusts: the one that its token is encrypted for. An operator may have given
 * it the next one. Without a token, or with another's, it is the present one.
 */
function trustedKey({ token, encAlgorithm }: Application, { masterKeys: { current, next } }: AuthServices): PrivateKey {
  if (token === undefined || encAlgorithm === undefined || next === undefined) return current;
  const opens = (key: PrivateKey) => {
    try {
      key.decrypt(encAlgorithm, token);
      return true;
    } catch (error) {
      if (error instanceof AuthenticationError) return false;
      throw error;
    }
  };
  return !opens(current) && opens(next) ? next : current;
}

/** @returns Whether it was done: no if the key on which it was decided is another by now. */
async function storeKey(
  { id, pem }: Application,
  { key, to, over }: KeyChange,
  { auth: { keys, keyBank, sessions }, park }: SignInNeeds,
): Promise<boolean> {
  const expected = keys.state(id) ?? "none";
  park();
  const [isDone] = await keyBank.change([
    key === "presented"
      ? { id, put: to, pem, expected, ...over !== undefined && { over } }
      : { id, from: "pending", to, expected },
  ]);
  // Whoever has the old key may know the session that it opened.
  if (isDone && over !== undefined) sessions.remove(id);
  return isDone;
}

/** The grains of the sign-in, for its event, if the master is configured so. */
function shownGrains(
  { autosignGrains }: Application,
  act: string,
  opts: SignInNeeds["opts"],
): { readonly autosign_grains?: ValueMap } {
  if (!opts.auth_events_autosign_grains.includes(act) || !autosignGrains?.size) return {};
  const fits = encode(autosignGrains, "wire").length <= MAX_SHOWN_GRAINS;
  return fits ? { autosign_grains: autosignGrains } : {};
}

/** Whether the key is the accepted one of that id, which an unknown sender does not know. */
function isKnown({ id, pem }: Application, { keys }: AuthServices): boolean {
  const accepted = isValidId(id) ? keys.get(id, "accepted") : undefined;
  return accepted !== undefined && samePem(accepted, pem);
}

/** Identifies one sign-in. */
function nonceText(nonce: Value): string | undefined {
  return nonce === null ? undefined : typeof nonce === "string" ? nonce : encode(nonce, "wire").toHex();
}

function parseApplication(load: ValueMap, version: number): Application {
  const id = load.get("id");
  const pub = load.get("pub");
  const nonce = load.get("nonce");
  const grains = load.get("autosign_grains");
  const trusts = load.get(NEXT_MASTER);
  const encAlgorithm = load.get("enc_algo") ?? "OAEP-SHA1";
  const sigAlgorithm = load.get("sig_algo") ?? "PKCS1v15-SHA1";
  if (typeof id !== "string") throw new WireError("an _auth without an id", "id");
  if (version > 1 && nonce === undefined) throw new WireError("an _auth without a nonce", "nonce");
  return {
    id,
    pem: typeof pub === "string" ? pub : "",
    nonce: nonce ?? null,
    encAlgorithm: isEncryptionAlgorithm(encAlgorithm) ? encAlgorithm : undefined,
    sigAlgorithm: isSigningAlgorithm(sigAlgorithm) ? sigAlgorithm : undefined,
    token: asBytes(load.get("token")),
    autosignGrains: isMap(grains) ? grains : undefined,
    signed: version > 1,
    follows: version > 1 ? load.get(NEXT_MINION) : undefined,
    trusts: version > 1 && typeof trusts === "string" ? trusts : undefined,
  };
}

/** The key, if it can encrypt the keys of the reply. */
function usableKey(pem: string, encAlgorithm: EncryptionAlgorithm): PublicKey | undefined {
  try {
    const key = PublicKey.fromPem(pem);
    if (key.size < ROOMY_KEY_BYTES) key.encrypt(encAlgorithm, new Uint8Array(KEY_STRING_BYTES));
    return key;
  } catch (error) {
    if (error instanceof KeyError) return undefined;
    throw error;
  }
}

/** A change of the store, and the accepted key that a following one replaces. */
type KeyChange = NonNullable<Decision["store"]> & { readonly over?: string };

function decide(
  wanted: Application,
  usable: boolean,
  services: SignInNeeds,
): Decision & { readonly store?: KeyChange } {
  const { opts, auth: { keys, autosign }, log } = services;
  const { id, pem } = wanted;
  const validId = isValidId(id);
  const state = validId ? keys.state(id) ?? "none" : "none";
  const foundPem = state === "none" ? undefined : keys.get(id, state);
  const cut = state !== "rejected" && foundPem !== undefined && isTruncatedKey(foundPem);
  if (cut) {
    log.error(
      `The ${state} key of ${id} is empty or cut, as a power failure leaves a file: it is ignored, and the key that ${id} presents is ` +
        "treated as that of a new minion; compare its fingerprint before you accept it",
    );
  }
  const stored = cut ? "none" : state;
  const isSame = !cut && foundPem !== undefined && samePem(foundPem, pem);
  const over = stored === "accepted" && !isSame && usable && isFollowed(wanted, foundPem, log) ? foundPem : undefined;
  const decision = decideKey({
    validId,
    full: validId && isFull(id, services),
    openMode: opts.open_mode,
    autoReject: validId && autosign.rejects(id),
    // A check uses up a stub, so check only if the answer is needed.
    autoSign: (stored === "none" || stored === "pending") && validId && autosign.accepts(id, wanted.autosignGrains),
    stored,
    sameKey: isSame || over !== undefined,
    usable,
  });
  if (over === undefined || decision.ret !== "accepted") return decision;
  const because = "a key that the accepted one has named as the next";
  return { ...decision, because, store: { key: "presented", to: "accepted", over } };
}

/** Whether the accepted key says that the presented one follows it. */
function isFollowed({ id, pem, follows }: Application, accepted: string | undefined, log: Logger): boolean {
  if (follows === undefined || accepted === undefined) return false;
  try {
    const statements = readStatements(follows, MAX_MINION_STATEMENTS);
    return pathOfKeys({ minion: id }, statements, { from: accepted, to: pem }) !== undefined;
  } catch (error) {
    if (!(error instanceof WireError) && !(error instanceof KeyError)) throw error;
    log.warning(`The statements about the key of ${truncate(id)} are refused: ${error.message}`);
    return false;
  }
}

function isFull(id: string, { opts, minions: { data, publishPort } }: Needs<"opts" | "minions">): boolean {
  if (opts.max_minions <= 0) return false;
  const connected = connectedAddresses(data, publishPort);
  return connected.size > opts.max_minions && !connected.has(id);
}

/** The shared key and the session key, encrypted for the minion. */
function keysFor(
  { id, token, sigAlgorithm, signed, trusts }: Application,
  minion: PublicKey,
  encAlgorithm: EncryptionAlgorithm,
  services: SignInNeeds & { readonly masterKey: PrivateKey },
): ValueMap {
  const { opts, masterKey, auth: { masterKeys, sharedKey, sessions }, minions: { publishPort } } = services;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const reply = map({ enc: "pub", pub_key: masterKey.publicKey.pem, publish_port: publishPort });
  if (opts.master_sign_pubkey) reply.set("pub_sig", signatureOfMasterKey(services, sigAlgorithm ?? "PKCS1v15-SHA1"));
  const shared = sharedKey.text;
  const parts: Uint8Array[] = [bytes(shared), bytes(sessions.forSignIn(id))];
  // A minion that still trusts another key follows the statements to this one, and has encrypted its token for that.
  if (token !== undefined && (!trusts || masterKeys.withFingerprint(trusts) === masterKey)) {
    try {
      const opened = masterKey.decrypt(encAlgorithm, token);
      if (opened.length > minion.room(encAlgorithm)) {
        throw new KeyError(`its ${opened.length} bytes do not fit the key`);
      }
      parts.push(opened);
    } catch (error) {
      services.warn(
        `The token in the sign-in of ${id} cannot be decrypted: ${messageOf(error)}`,
      );
    }
  }
  const [aes, session, opened] = minion.encryptAll(encAlgorithm, parts, opensslEncrypt);
  if (opened !== undefined) reply.set("token", opened);
  reply.set("aes", aes);
  reply.set("session", session);
  reply.set("sig", sharedKeySignature(masterKey, shared));
  // Not in Salt, whose minions ignore unknown fields.
  if (signed) reply.set("max_request_bytes", opts.max_request_bytes).set(REKEY, true);
  return reply;
}

/** The last shared key that each master key signed, and its signature. */
const signedKeys = new WeakMap<PrivateKey, { readonly shared: string; readonly signature: Uint8Array }>();

/** The X9.31 signature of the shared key, the same for every minion: made once per key and thread. */
function sharedKeySignature(masterKey: PrivateKey, shared: string): Uint8Array {
  const cached = signedKeys.get(masterKey);
  if (cached?.shared === shared) return cached.signature;
  const signature = masterKey.signX931(new TextEncoder().encode(hashHex(shared, "sha256")));
  signedKeys.set(masterKey, { shared, signature });
  return signature;
}

/** `master_sign_pubkey`: the prepared signature, or a new one; base64 and a newline. */
function signatureOfMasterKey(
  { opts, masterKey }: Needs<"opts"> & { readonly masterKey: PrivateKey },
  algorithm: SigningAlgorithm,
): string {
  if (opts.master_use_pubkey_signature) {
    const signature = readTextFileIfExists(`${opts.pki_dir}/${opts.master_pubkey_signature ?? SIGNATURE_NAME}`);
    if (signature !== undefined) return signature;
  }
  const path = `${opts.pki_dir}/${opts.master_sign_key_name}.pem`;
  const pem = readTextFileIfExists(path);
  if (pem === undefined) throw new KeyError(`master_sign_pubkey is on, but there is no ${path}`);
  const signed = PrivateKey.fromPem(pem).sign(algorithm, new TextEncoder().encode(masterKey.publicKey.pem));
  return `${signed.toBase64()}\n`;
}

function seal(inner: ValueMap, { nonce, signed, sigAlgorithm }: Application, masterKey: PrivateKey): Value {
  // Up to version 1 an accepted minion got the keys at the top level, and everything else as a clear load.
  if (!signed) return inner.has("enc") ? inner : map({ enc: "clear", load: inner });
  inner.set("nonce", nonce);
  const load = encode(inner, "wire");
  return map({ enc: "clear", load, sig: masterKey.sign(sigAlgorithm ?? "PKCS1v15-SHA1", load) });
}

function badAlgorithm(kind: "sig" | "enc"): Value {
  return map({ enc: "clear", load: { ret: `bad ${kind} algo` } });
}
