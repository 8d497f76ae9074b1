/**
 * A scripted master, which may also send wrong answers. It uses the project's keys and envelopes, and has the two
 * sockets that a minion connects to. It stores no minion keys and no jobs, and has no access rules.
 * @module
 */

import { applicantOf } from "./applicant.ts";
import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { createLogger, levelName, type Logger } from "#lib/runtime/log.ts";
import { encode } from "#lib/values/msgpack.ts";
import { asBytes, parseRequest } from "#lib/protocol/payload.ts";
import { isEncryptionAlgorithm, isSigningAlgorithm, PrivateKey, PublicKey } from "#lib/crypto/rsa.ts";
import type { Applicant } from "#lib/minion/masters/sign_in.ts";
import { Duplex } from "#lib/sockets/endpoint.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { Peer } from "./peer.ts";

const utf8 = new TextEncoder();

/** Small keys are generated quickly, and are sufficient for a test. */
export const TEST_KEY_BITS = 1024;

/** A logger that records its lines, `LEVEL message`. */
export function memoryLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const write = ({ level, message }: { level: number; message: string }) =>
    void lines.push(`${levelName(level)} ${message}`);
  return { log: createLogger([{ level: 0, write, close: () => {} }]), lines };
}

/** How an answer to a sign-in differs from the correct one. */
export interface SignInOverrides {
  /** Refuses with this `ret` instead of sending the keys. */
  readonly ret?: Value;
  /** Changes the payload before it is signed. */
  readonly inner?: (inner: ValueMap) => void;
  /** Changes the envelope, after it was signed. */
  readonly outer?: (outer: ValueMap) => void;
  /** The key that signs the envelope instead of the master's. */
  readonly signer?: PrivateKey;
  /** The key that is presented as the master's and signs the shared key. */
  readonly key?: PrivateKey;
}

/** The keys of a master, and its honest answers. */
export class MasterKeys {
  /** The session key of all publishes. A restart or a rotation makes a new one. */
  sharedKey = generateKeyString();
  /** The public key of the test's one minion. */
  sessionKey = generateKeyString();
  /** The algorithms of the last sign-in. */
  publishPort = 4505;

  constructor(readonly key: PrivateKey) {}

  /** A master with a new key. */
  static async make(): Promise<MasterKeys> {
    return new MasterKeys(await PrivateKey.generate(TEST_KEY_BITS));
  }

  /**
   * The answer to a sign-in.
   * @param request The load of the `_auth` request.
   */
  signIn(request: ValueMap, overrides: SignInOverrides = {}): Uint8Array {
    const { inner, algorithm } = overrides.ret === undefined ? this.#accept(request, overrides) : {
      inner: map({ ret: overrides.ret }),
      algorithm: algorithms(request),
    };
    inner.set("nonce", request.get("nonce") ?? null);
    overrides.inner?.(inner);
    const load = encode(inner, "wire");
    const outer = map({
      enc: "clear",
      load,
      sig: (overrides.signer ?? overrides.key ?? this.key).sign(algorithm.sig, load),
    });
    overrides.outer?.(outer);
    return encode(outer, "wire");
  }

  #accept(request: ValueMap, overrides: SignInOverrides) {
    const algorithm = algorithms(request);
    const key = overrides.key ?? this.key;
    const minion = PublicKey.fromPem(String(request.get("pub")));
    const seal = (text: string) => minion.encrypt(algorithm.enc, utf8.encode(text));
    const inner = map({ enc: "pub", pub_key: key.publicKey.pem, publish_port: this.publishPort });
    const token = asBytes(request.get("token"));
    if (token !== undefined) {
      try {
        inner.set("token", minion.encrypt(algorithm.enc, key.decrypt(algorithm.enc, token)));
      } catch {
        // As in Salt: a token that cannot be decrypted is left out.
      }
    }
    inner.set("aes", seal(this.sharedKey));
    inner.set("session", seal(this.sessionKey));
    inner.set("sig", key.signX931(utf8.encode(hashHex(this.sharedKey, "sha256"))));
    return { inner, algorithm };
  }

  /** The load of an encrypted request, with its nonce. */
  open(frame: Uint8Array): ValueMap {
    const request = parseRequest(frame);
    if (request.enc !== "aes") throw new Error("not an encrypted request");
    const load = new Crypticle(this.sessionKey).loads(request.load);
    if (!isMap(load)) throw new Error("a request that is no map");
    return load;
  }

  /** The answer to an encrypted request. */
  reply(load: ValueMap, value: Value): Uint8Array {
    return encode(new Crypticle(this.sessionKey).dumps(value, String(load.get("nonce"))), "wire");
  }

  /**
   * The answer to a `_pillar` request.
   * @param change Changes the signed payload or the whole answer.
   */
  pillar(load: ValueMap, minion: PublicKey, change: PillarLies = {}): Uint8Array {
    const keyString = generateKeyString();
    const key = minion.encrypt("OAEP-SHA1", utf8.encode(keyString));
    const signed = map({ key, pillar: { role: "web" }, nonce: load.get("nonce") });
    change.signed?.(signed);
    const data = encode(signed, "wire");
    const sig = (change.signer ?? this.key).sign("PKCS1v15-SHA1", data);
    const sealed = map({ data, sig });
    change.sealed?.(sealed);
    return encode(map({ key, pillar: new Crypticle(keyString).dumps(sealed) }), "wire");
  }

  /** A publish as the PUB socket sends it. */
  publish(load: Readonly<Record<string, unknown>>, change: PublishLies = {}): Uint8Array {
    const sealed = new Crypticle(change.sharedKey ?? this.sharedKey).dumps(
      change.value === undefined ? map(load) : change.value,
    );
    const envelope = map({ enc: "aes", load: sealed });
    if (change.signer !== undefined) {
      envelope.set("sig_algo", "PKCS1v15-SHA1");
      envelope.set("sig", change.signer.sign("PKCS1v15-SHA1", sealed));
    }
    change.envelope?.(envelope);
    return encode(envelope, "wire");
  }
}

/** How a pillar differs from an honest one. */
export interface PillarLies {
  /** Changes the payload before it is signed. */
  readonly signed?: (signed: ValueMap) => void;
  /** Changes the payload before it is encrypted. */
  readonly sealed?: (sealed: ValueMap) => void;
  /** The key that signs instead of the master's. */
  readonly signer?: PrivateKey;
}

/** How a publish differs from a usual one. */
export interface PublishLies {
  /** A session key other than the shared one. */
  readonly sharedKey?: string;
  /** The key that signs it; without it, the publish is not signed. */
  readonly signer?: PrivateKey;
  /** The published bytes in place of a load. */
  readonly value?: Value;
  /** Changes the envelope. */
  readonly envelope?: (envelope: ValueMap) => void;
}

function algorithms(request: ValueMap) {
  const enc = request.get("enc_algo");
  const sig = request.get("sig_algo");
  if (!isEncryptionAlgorithm(enc) || !isSigningAlgorithm(sig)) throw new Error("a sign-in with unknown algorithms");
  return { enc, sig };
}

/** A received request: decoded, and its bytes. */
export interface ReceivedRequest {
  /** The load, decrypted if necessary; an empty map if it cannot be decrypted. */
  readonly load: ValueMap;
  /** `_auth`, `_return`, … */
  readonly cmd: string;
  /** The bytes as received. */
  readonly frame: Uint8Array;
}

/** The answer of a scripted master to a request: bytes; `undefined`: no answer. */
export type Script = (request: ReceivedRequest) => Uint8Array | undefined;

/** A master's two sockets on free ports, and a script for its answers. */
export class ScriptedMaster implements AsyncDisposable {
  /** All received requests, in order. */
  readonly requests: ReceivedRequest[] = [];
  /** The script; may be changed at any time. */
  script: Script;
  /** The master's keys. */
  readonly keys: MasterKeys;
  readonly #router: Duplex;
  readonly #publisher: Duplex;
  #running: Promise<void> = Promise.resolve();

  private constructor(keys: MasterKeys, script: Script | undefined) {
    this.keys = keys;
    this.script = script ?? this.honest;
    this.#router = Peer.router();
    this.#publisher = Duplex.xpub({ highWaterMark: 0 });
  }

  /** @param options.ports The ports to listen on. Default: free ports. */
  static async start(
    keys: MasterKeys,
    options: { readonly script?: Script; readonly ports?: { readonly request: number; readonly publish: number } } = {},
  ): Promise<ScriptedMaster> {
    const master = new ScriptedMaster(keys, options.script);
    await master.#router.bind(`tcp://127.0.0.1:${options.ports?.request ?? 0}`);
    await master.#publisher.bind(`tcp://127.0.0.1:${options.ports?.publish ?? 0}`);
    keys.publishPort = Number(master.#publisher.address.split(":").at(-1));
    master.#running = master.#serve();
    return master;
  }

  /** `tcp://127.0.0.1:<port>` for requests. */
  get address(): string {
    return this.#router.address;
  }

  /** The number of received requests with this command. */
  count(cmd: string): number {
    return this.requests.filter((request) => request.cmd === cmd).length;
  }

  /** The answers of a master that accepts every minion: keys, an empty pillar, and None. */
  readonly honest: Script = ({ load, cmd, frame }) => {
    if (cmd === "_auth") {
      this.#minion = PublicKey.fromPem(String(load.get("pub")));
      return this.keys.signIn(load);
    }
    if (cmd === "") return encode("bad load", "wire");
    if (cmd === "_pillar" && this.#minion !== undefined) return this.keys.pillar(load, this.#minion);
    return this.keys.reply(this.keys.open(frame), null);
  };
  #minion: PublicKey | undefined;

  /** Publishes a frame that `MasterKeys.publish` made. */
  async publish(frame: Uint8Array): Promise<void> {
    await this.#publisher.send([frame]);
  }

  async #serve(): Promise<void> {
    for (;;) {
      const frames = await this.#router.receive();
      if (frames === undefined) return;
      const frame = frames[frames.length - 1];
      const request = this.#read(frame);
      this.requests.push(request);
      const reply = this.script(request);
      if (reply !== undefined) await this.#router.send([...frames.slice(0, -1), reply]);
    }
  }

  #read(frame: Uint8Array): ReceivedRequest {
    const request = parseRequest(frame);
    let load: ValueMap = new Map();
    try {
      load = request.enc === "clear" ? request.load : this.keys.open(frame);
    } catch {
      // Encrypted under a session key other than ours.
    }
    const cmd = load.get("cmd");
    return { load, cmd: typeof cmd === "string" ? cmd : "", frame };
  }

  /** Stops it; both ports are free afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#router.close();
    this.#publisher.close();
    await this.#running;
  }
}

/** A minion's side of a sign-in, with a key and its own directory. */
export function applicant(key: PrivateKey, pkiDir: string, changes: Partial<Applicant> = {}): Applicant {
  return { ...applicantOf("web1", key, pkiDir), ...changes };
}
