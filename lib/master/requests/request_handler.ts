/**
 * Handles one request to port 4506, from its bytes to the reply's bytes: every request gets a reply. The checks have
 * Salt's order; a failed check replies with Salt's text and writes one log line.
 * Source: docs/protocol.md "How a request is checked".
 * @module
 */

import { truncate, truncateValue } from "#lib/text/truncate.ts";
import { clearCommand } from "./clear_commands.ts";
import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, describeError, MsgpackError, WireError } from "#lib/errors.ts";
import { isFollower } from "#lib/keys/followers.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { signInMinion } from "./sign_in.ts";
import type { MasterServices } from "./services.ts";
import { minionCommand } from "./minion_commands.ts";
import { MinionKeys } from "#lib/keys/accepted_keys.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { asBytes, MAX_FIELDS, parseRequest, type Request } from "#lib/protocol/payload.ts";
import { isEncryptionAlgorithm, isSigningAlgorithm } from "#lib/crypto/rsa.ts";
import { readTrace } from "#lib/tracing/trace_context.ts";
import type { Tracer } from "#lib/tracing/tracer.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

type Encrypted = Request & { enc: "aes" };

const BAD_LOAD = "bad load";
const WORKER_FAILED = "Some exception handling minion payload";

/** The result of {@linkcode RequestHandler.handle} for a request that is not answered. No reply is empty. */
export const NO_ANSWER: Uint8Array = new Uint8Array();

/** Answers requests with the services of its thread. */
export class RequestHandler {
  readonly #services: MasterServices;
  readonly #minionKeys: MinionKeys;
  readonly #tracer: Tracer | undefined;

  /**
   * @param services Shared by all commands.
   * @param tracer Makes a span of each request.
   */
  constructor(services: MasterServices, tracer?: Tracer) {
    this.#services = services;
    this.#tracer = tracer;
    this.#minionKeys = new MinionKeys(services.auth.keys, services.auth.verified);
  }

  /**
   * The reply to `frame`, or {@linkcode NO_ANSWER}. Never throws.
   * @param onRefused Called in the turn in which it turns out that the sender has not proved who it is.
   */
  async handle(frame: Uint8Array, onRefused: () => void = () => {}): Promise<Uint8Array> {
    try {
      const answer = await this.#answer(frame, onRefused);
      if (answer !== undefined) return encode(answer, "wire");
      onRefused();
      return NO_ANSWER;
    } catch (error) {
      if (error instanceof WireError || error instanceof MsgpackError) onRefused();
      if (error instanceof WireError) {
        this.#services.warn(
          `Refused a request: ${truncate(error.message)}${error.field ? ` (${error.field})` : ""}`,
        );
        // A refused envelope is answered with its own message; a command without a field with Salt's general one.
        return encode(error.field === undefined ? error.message : WORKER_FAILED, "wire");
      }
      if (error instanceof MsgpackError) {
        this.#services.warn(`Refused a request that cannot be read: ${error.message}`);
        return encode(map({ msg: BAD_LOAD }), "wire");
      }
      const text = describeError(error);
      this.#services.log.error(`A request failed: ${text}`);
      return encode(WORKER_FAILED, "wire");
    }
  }

  async #answer(frame: Uint8Array, onRefused: () => void): Promise<Value | undefined> {
    const { opts } = this.#services;
    const request = parseRequest(frame);
    if (request.version < opts.minimum_auth_version) {
      throw new WireError(BAD_LOAD);
    }
    if (request.enc === "clear") {
      checkId(request.load.get("id"));
      this.#services.log.debug(() =>
        `Clear payload received with command ${truncateValue(request.load.get("cmd") ?? null)}`
      );
      if (request.load.get("cmd") === "_auth") {
        return await this.#measured("_auth", () => signInMinion(request.load, request.version, this.#services));
      }
      const answer = await this.#traced(request.load, (services) => clearCommand(request.load, services));
      if (provesNothing(request.load, answer)) onRefused();
      return answer;
    }
    const { load, crypticle } = this.#open(request);
    checkId(load.get("id"));
    const nonce = request.version > 1 ? load.get("nonce") : undefined;
    if (request.version > 1) load.delete("nonce");
    const id = this.#identify(request, load);
    this.#services.log.debug(() =>
      `AES payload received with command ${truncateValue(load.get("cmd") ?? null)} from ${id}`
    );
    const { value, sealed } = await this.#traced(
      load,
      (services) => minionCommand(load, id, services, { bytes: frame.length }),
    );
    if (sealed !== undefined) return this.#sealFor(id, sealed, request, nonce);
    // Encrypted with the key of the request: revoke_auth has removed the session, a rotation has changed the shared
    // key.
    return crypticle.dumps(value, typeof nonce === "string" ? nonce : undefined);
  }

  /** Answers a request in a span, below that of its sender. */
  async #traced<T>(load: ValueMap, answer: (services: MasterServices) => Promise<T>): Promise<T> {
    const tracer = this.#tracer;
    if (tracer === undefined && this.#services.metrics === undefined) return await answer(this.#services);
    const cmd = truncateValue(load.get("cmd") ?? "");
    if (tracer === undefined) return await this.#measured(cmd, () => answer(this.#services));
    const attributes = { "salt.req.cmd": cmd, "salt.req.minion_id": truncateValue(load.get("id") ?? "") };
    return await tracer.within(
      `salt.req.recv.${cmd}`,
      { kind: "server", parent: readTrace(load), attributes },
      (context) => this.#measured(cmd, () => answer({ ...this.#services, trace: { tracer, context } })),
    );
  }

  /** Counts a request, and how long its answer takes. */
  async #measured<T>(cmd: string, answer: () => Promise<T>): Promise<T> {
    const { metrics } = this.#services;
    if (metrics === undefined) return await answer();
    metrics.count("salt.master.requests.handled", { cmd });
    return await metrics.timed("salt.master.requests.duration", answer, { cmd });
  }

  #open(request: Encrypted): { load: ValueMap; crypticle: Crypticle } {
    const { sessions, sharedKey } = this.#services.auth;
    if (request.version <= 2) return openedWith(sharedKey.crypticles(), request.load);
    const { id } = request;
    if (id === undefined || !isValidId(id)) throw new WireError(BAD_LOAD);
    const opened = openedWith(sessions.crypticles(id), request.load);
    sessions.noteUse?.(id, opened.crypticle);
    return opened;
  }

  /** Identifies the minion that sent the request, and verifies its token. */
  #identify(request: Encrypted, load: ValueMap): string {
    const { opts } = this.#services;
    const id = load.get("id");
    const token = load.get("tok");
    load.delete("tok");
    if (typeof id !== "string" || !isValidId(id)) throw new WireError(BAD_LOAD);
    if (request.version > 2) {
      const ts = load.get("ts");
      const age = Date.now() / 1000 - (typeof ts === "number" ? ts : 0);
      if (opts.request_server_ttl > 0 && age > opts.request_server_ttl) throw new WireError(BAD_LOAD);
      if (request.id !== id || token === undefined) throw new WireError(BAD_LOAD);
    }
    // Up to version 2 minions send a token only with some requests. Then any minion could impersonate another;
    // minimum_auth_version prevents that. A deleted key authenticates nothing in any version.
    const proved = token === undefined
      ? this.#minionKeys.get(id) !== undefined
      : this.#minionKeys.provesToken(id, asBytes(token));
    if (!proved) throw new WireError(BAD_LOAD);
    return id;
  }

  /** Encrypts a packed reply so that only minion `id` can read it; signed by the master. */
  #sealFor(id: string, packed: Uint8Array, request: Encrypted, nonce: Value | undefined): Value {
    const encAlgorithm = request.encAlgorithm ?? "OAEP-SHA1";
    const sigAlgorithm = request.sigAlgorithm ?? "PKCS1v15-SHA1";
    const minion = this.#minionKeys.get(id);
    if (!isEncryptionAlgorithm(encAlgorithm) || !isSigningAlgorithm(sigAlgorithm) || minion === undefined) {
      throw new WireError(WORKER_FAILED);
    }
    const keyString = generateKeyString();
    const key = minion.encrypt(encAlgorithm, new TextEncoder().encode(keyString));
    const crypticle = new Crypticle(keyString);
    if (request.version < 2) return map({ key, pillar: crypticle.dumps(decode(packed, "wire")) });
    if (typeof nonce !== "string") return map({ error: "Nonce not included in request" });
    const data = packedMap([["key", encode(key, "wire")], ["pillar", packed], ["nonce", encode(nonce, "wire")]]);
    const { auth: { masterKeys: { current, next } }, opts: { cachedir } } = this.#services;
    // Minions of ours that follow the next key take both, others that trust it no other.
    const masterKey = next !== undefined && isFollower(id, next.publicKey.pem, cachedir) ? next : current;
    const sig = masterKey.sign(sigAlgorithm, data);
    return map({ key, pillar: crypticle.dumps(map({ data, sig })) });
  }
}

/** Whether a clear command was answered without a look at who sent it, or refused. */
function provesNothing(load: ValueMap, answer: Value): boolean {
  return answer === load || answer === "" || answer === false ||
    isMap(answer) && (answer.size === 0 || answer.has("error"));
}

/** A map of a few values that are packed already. */
function packedMap(entries: readonly (readonly [name: string, packed: Uint8Array])[]): Uint8Array {
  const head = Uint8Array.of(0x80 | entries.length); // MessagePack's map of up to 15 entries
  return joinBytes([head, ...entries.flatMap(([name, packed]) => [encode(name, "wire"), packed])]);
}

/** Salt's first check of ids, before an id is used. */
function checkId(id: Value | undefined): void {
  if (id === undefined) return;
  if (typeof id !== "string") throw new WireError(`bad load: id ${truncateValue(id)} is not a string`);
  if (id.includes("\0")) throw new WireError("bad load: id contains a null byte");
}

/**
 * The load in a sealed message, and the crypticle that it was sealed with.
 * @throws {WireError} If it was sealed with none of these, or holds no load.
 */
function openedWith(
  crypticles: readonly Crypticle[],
  sealed: Uint8Array,
): { readonly load: ValueMap; readonly crypticle: Crypticle } {
  for (const crypticle of crypticles) {
    let load: Value;
    try {
      load = crypticle.loads(sealed);
    } catch (error) {
      if (error instanceof AuthenticationError) continue;
      throw error instanceof MsgpackError ? new WireError(BAD_LOAD) : error;
    }
    if (!isMap(load)) throw new WireError("payload and load must be a dict");
    if (load.size > MAX_FIELDS) throw new WireError(BAD_LOAD);
    return { load, crypticle };
  }
  throw new WireError(BAD_LOAD);
}
