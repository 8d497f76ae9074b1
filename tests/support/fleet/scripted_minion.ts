/**
 * A scripted minion, in every version of the protocol, over any transport.
 * @module
 */

import { Crypticle } from "#lib/crypto/crypticle.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { MADE_BITS, madeKey } from "./keys.ts";

/** Sends the bytes of a request and returns those of the reply. */
export type Ask = (frame: Uint8Array) => Promise<Uint8Array>;

/** The answer to a sign-in. */
export interface SignInAnswer {
  /** The whole reply. */
  readonly outer: ValueMap;
  /** The payload that the master signed: the keys, or `ret` and `nonce`. */
  readonly inner: ValueMap;
}

const keys = new Map<string, Promise<PrivateKey>>();

/** The key of this name; one of another size is generated once in each test file. */
export function testKey(name: string, bits = MADE_BITS): Promise<PrivateKey> {
  const key = keys.get(name) ?? (bits === MADE_BITS ? madeKey(`scripted_${name}`) : PrivateKey.generate(bits));
  keys.set(name, key);
  return key;
}

/** A new nonce. */
export function makeNonce(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** The bytes of an envelope with these fields, in this order. */
export function envelope(fields: Record<string, unknown>): Uint8Array {
  return encode(map(fields), "wire");
}

/** Decodes `frame`. */
export function opened(frame: Uint8Array): Value {
  return decode(frame, "wire");
}

/**
 * The map in `value`.
 * @throws {TypeError} If it is none.
 */
export function asMap(value: Value | undefined): ValueMap {
  if (!isMap(value)) throw new TypeError(`${value} is no map`);
  return value;
}

/** The minion. */
export class ScriptedMinion {
  /** Decrypts publishes, after a sign-in. */
  shared: Crypticle | undefined;
  /** Encrypts requests, after a sign-in. */
  session: Crypticle | undefined;
  readonly #ask: Ask;

  constructor(readonly id: string, readonly key: PrivateKey, ask: Ask) {
    this.#ask = ask;
  }

  /** The token that proves that it holds its key. */
  get token(): Uint8Array {
    return this.key.signX931(new TextEncoder().encode("salt"));
  }

  /** Signs in; `fields` replace fields of the load. */
  async signIn(fields: Record<string, unknown> = {}, version: number | undefined = 3): Promise<SignInAnswer> {
    const load = {
      cmd: "_auth",
      id: this.id,
      nonce: makeNonce(),
      enc_algo: "OAEP-SHA1",
      sig_algo: "PKCS1v15-SHA1",
      pub: this.key.publicKey.pem,
      ...fields,
    };
    const outer = asMap(opened(await this.#ask(envelope({ enc: "clear", load, version }))));
    const signed = outer.get("load");
    const inner = isMap(signed)
      ? signed
      : signed === undefined
      ? outer
      : asMap(opened(asBytes(signed) ?? new Uint8Array()));
    const open = (field: string) => {
      const sealed = asBytes(inner.get(field));
      if (sealed === undefined) return undefined;
      const algorithm = load.enc_algo === "OAEP-SHA224" ? "OAEP-SHA224" : "OAEP-SHA1";
      return new Crypticle(new TextDecoder().decode(this.key.decrypt(algorithm, sealed)));
    };
    this.shared = open("aes") ?? this.shared;
    this.session = open("session") ?? this.session;
    return { outer, inner };
  }

  /** The bytes of an encrypted request. `inner` and `outer` replace fields; the value `undefined` removes a field. */
  seal(
    cmd: Record<string, unknown>,
    over: { readonly inner?: Record<string, unknown>; readonly outer?: Record<string, unknown> } = {},
  ): Uint8Array {
    const version = over.outer?.version ?? 3;
    const proof = { nonce: makeNonce(), ts: Math.floor(Date.now() / 1000), id: this.id, tok: this.token };
    const load = present({ ...cmd, ...proof, ...over.inner });
    const crypticle = typeof version === "number" && version > 2 ? this.session : this.shared;
    if (crypticle === undefined) throw new Error("not signed in");
    const outer = { enc: "aes", load: crypticle.dumps(map(load)), version, id: this.id, ...over.outer };
    return envelope(present(outer));
  }

  /**
   * Sends a command under the session key, and checks the nonce of the reply.
   * @returns The decrypted reply.
   */
  async request(cmd: Record<string, unknown>): Promise<Value> {
    const nonce = makeNonce();
    const reply = opened(await this.#ask(this.seal(cmd, { inner: { nonce } })));
    const sealed = asBytes(reply);
    if (this.session === undefined || sealed === undefined) return reply;
    try {
      return this.session.loads(sealed, nonce);
    } catch {
      return reply;
    }
  }

  /**
   * Sends any bytes.
   * @returns The decoded reply.
   */
  async send(frame: Uint8Array): Promise<Value> {
    return opened(await this.#ask(frame));
  }
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined));
}
