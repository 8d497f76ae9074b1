/**
 * A minion's link to its master's port 4506: signs in, waits as the master says, and sends encrypted requests.
 *
 * When a reply does not open (the master restarted, or rotated its keys) it signs in again and sends the request once
 * more. Knows nothing of publishes or jobs.
 * Source: salt-protocol.md sections 2, 3 and 14.
 * @module
 */

import { sameBytes } from "../crypto/same_bytes.ts";
import type { Backoff } from "./backoff.ts";
import { Crypticle } from "../crypto/crypticle.ts";
import {
  AuthenticationError,
  MsgpackError,
  RequestTimeoutError,
  RequestTooLargeError,
  SignInError,
  WireError,
} from "../errors.ts";
import type { Logger } from "../process/log.ts";
import { type Reach, reachOf } from "./master_diagnosis.ts";
import { decode, encode } from "../values/msgpack.ts";
import { asBytes, clearRequest, encryptedRequest, STRANGER } from "../protocol/payload.ts";
import { RequestChannel, type RequestOptions, type RequestPatience } from "../sockets/request_channel.ts";
import { type Applicant, type Credentials, SignIn, type SignInReply } from "./sign_in.ts";
import { sleep } from "../os/sleep.ts";
import type { KeepAlive } from "../sockets/settings.ts";
import { isMap, map, str, type Value, type ValueMap } from "../values/value.ts";

/** How long a sign-in waits for what. Times in milliseconds. */
export interface SignInPatience {
  /** For each try to reach the master. */
  readonly authTimeoutMs: number;
  /** Tries in a round. */
  readonly authTries: number;
  /** Rounds of `authTries` at first contact; -1 is without end. A link that has been up does not give up. */
  readonly masterTries: number;
  /** Between two questions whether the key has been accepted; doubles up to the maximum if that is larger. */
  readonly acceptanceWaitMs: number;
  /** The longest of these waits; below the first one, it never grows. */
  readonly acceptanceWaitMaxMs: number;
  /** Whether to go on asking after a rejection. */
  readonly rejectedRetry: boolean;
  /** Before giving up on a rejection, at random between these two. */
  readonly rejectedWaitMs: readonly [number, number];
  /** Whether to give up when the key is still not accepted after one wait, as salt-call does. */
  readonly failOnPending: boolean;
  /** What a first sign-in does about silence. Default: it tries on, and tells nobody why. */
  readonly silence?: {
    /** After so long its cause is looked for, and told. */
    readonly afterMs: number;
    /** Before the master's name, which nobody knew, is looked up again; 0 is to give up. */
    readonly retryDnsMs: number;
    /** Look-ups of a name that nobody knows before giving up. */
    readonly retryDnsCount: number;
  };
}

/** What a link is made of. */
export interface LinkSettings {
  /** `tcp://host:4506`. */
  readonly address: string;
  /** Who signs in. */
  readonly applicant: Applicant;
  /** How long a sign-in waits. */
  readonly patience: SignInPatience;
  /** The waits before the tries to sign in again after a lost connection. */
  readonly backoff: Backoff;
  /** How long other requests wait. */
  readonly requestPatience: RequestPatience;
  /** Whether each request is signed with the minion's key, as `minion_sign_messages` asks. */
  readonly signMessages: boolean;
  /** Bytes of the largest request that is sent; 0: as the master says at sign-in. Default: 0. */
  readonly maxRequestBytes?: number;
  /** How idle connections are probed. Default: as the system does. */
  readonly keepalive?: KeepAlive;
  /** Whether names may mean IPv6 addresses; default: as the address says. */
  readonly ipv6?: boolean;
  /** The minion's log. */
  readonly log: Logger;
  /** Called after each sign-in, the first one included. */
  onSignedIn?(credentials: Credentials): void;
}

/** An exit code of its own for a key that is still pending. */
const EXIT_PENDING = 2;
/** EX_NOPERM. */
const EXIT_REJECTED = 77;
/**
 * After a lost connection, so many tries are short, this many milliseconds more each: a master that ends takes the first
 * question with it, and mostly another one is there soon. Where the connection holds, nothing is asked twice: a whole fleet
 * may be asking, because the shared key is a new one, and the master has its hands full.
 */
const QUICK_TRIES = 2;
const QUICK_MS = 1_000;

/** How long a master that is there takes at most for a PING, in milliseconds; it may have its hands full. */
const PING_MS = 10_000;

/** The minion's signed-in connection to one master. */
export class MasterLink {
  readonly #settings: LinkSettings;
  readonly #channel: RequestChannel;
  readonly #token: Uint8Array;
  readonly #closing = new AbortController();
  #signingIn: Promise<Credentials> | undefined;
  #credentials: Credentials | undefined;
  #session: Crypticle | undefined;
  /** How often the master's name was found to mean nobody. */
  #lookUps = 0;
  /** Tries to sign in since the connection was lost; `undefined`: it holds, or was not there yet. */
  #lostTries: number | undefined;
  /** What the sign-in under way asks through. */
  #signInChannel: RequestChannel | undefined;

  /** Opens nothing yet: {@linkcode signIn} does. */
  constructor(settings: LinkSettings) {
    this.#settings = settings;
    this.#channel = this.#open();
    this.#token = settings.applicant.key.signX931(new TextEncoder().encode("salt"));
  }

  /** A channel to the master; for try `lost` after a lost connection it connects no more often than the tries go. */
  #open(lost?: number): RequestChannel {
    const { address, keepalive, ipv6, backoff } = this.#settings;
    const pace = lost === undefined ? {} : { reconnectMs: backoff.reconnect(lost), reconnectMaxMs: 0 };
    return new RequestChannel(address, { keepalive, ipv6, ...pace });
  }

  /** The keys of the last sign-in. */
  get credentials(): Credentials | undefined {
    return this.#credentials;
  }

  /** Bytes of the largest request that can be sent, as far as that is known: as the master says, or less by the minion's option. */
  get maxRequestBytes(): number | undefined {
    const own = this.#settings.maxRequestBytes || Infinity;
    const least = Math.min(own, this.#credentials?.maxRequestBytes ?? Infinity);
    return least === Infinity ? undefined : least;
  }

  /**
   * Signs in, however long the operator takes; calls made meanwhile share one sign-in.
   * @throws {SignInError} If waiting cannot help.
   */
  signIn(signal: AbortSignal): Promise<Credentials> {
    this.#signingIn ??= this.#signInOnce(AbortSignal.any([signal, this.#closing.signal])).finally(() =>
      this.#signingIn = undefined
    );
    return this.#signingIn;
  }

  async #signInOnce(signal: AbortSignal): Promise<Credentials> {
    const { log, patience, applicant } = this.#settings;
    let waitMs = patience.acceptanceWaitMs;
    let asked = false;
    for (let round = 1;; round++) {
      signal.throwIfAborted();
      if (this.#lostTries !== undefined) await sleep(this.#settings.backoff.pause(this.#lostTries), signal);
      const reply = await this.#apply(round, signal);
      if (reply !== undefined) this.#lostTries = undefined;
      const waits = reply?.kind === "pending" || reply?.kind === "full" ||
        reply?.kind === "rejected" && patience.rejectedRetry;
      if (waits && asked && patience.failOnPending) {
        throw new SignInError(
          "Minion failed to authenticate with the master, has the minion key been accepted?",
          EXIT_PENDING,
        );
      }
      asked ||= waits;
      switch (reply?.kind) {
        case "accepted":
          // A new key is a new master process: what was asked of the old one will not be answered.
          if (this.#credentials && this.#credentials.sharedKey !== reply.credentials.sharedKey) this.#channel.reset();
          this.#credentials = reply.credentials;
          this.#session = new Crypticle(reply.credentials.sessionKey);
          log.info(`Signed in to the master at ${this.#settings.address} as ${applicant.id}`);
          this.#settings.onSignedIn?.(reply.credentials);
          return reply.credentials;
        case "pending":
          log.error(
            "The Salt Master has cached the public key for this node, this salt minion will wait for " +
              `${waitMs / 1000} seconds before attempting to re-authenticate. To accept it, on the master: ` +
              `salt-key -a ${applicant.id}`,
          );
          break;
        case "rejected": {
          const [shortest, longest] = patience.rejectedWaitMs;
          if (patience.rejectedRetry) {
            log.error(`The master has rejected this minion's key; asking again in ${waitMs / 1000} seconds`);
            break;
          }
          log.error("The master has rejected this minion's key. On the master: salt-key --delete or --accept it");
          await sleep(shortest + Math.random() * (longest - shortest), signal);
          throw new SignInError("The Salt Master has rejected this minion's public key", EXIT_REJECTED);
        }
        case "full":
          log.error(`The master has as many minions as it takes; asking again in ${waitMs / 1000} seconds`);
          break;
        case undefined:
          continue; // nobody there: #apply has waited already
      }
      await sleep(waitMs, signal);
      waitMs = Math.min(waitMs * 2, Math.max(patience.acceptanceWaitMaxMs, patience.acceptanceWaitMs));
    }
  }

  /** One question; `undefined` if nobody answered, or not with something that proves itself. */
  async #apply(round: number, signal: AbortSignal): Promise<SignInReply | undefined> {
    const { log, patience, address } = this.#settings;
    const attempt = new SignIn(this.#settings.applicant);
    const started = performance.now();
    const last = this.#credentials === undefined && patience.masterTries >= 0 && round >= patience.masterTries;
    const { authTimeoutMs, authTries } = patience;
    const lost = this.#lostTries;
    const quick = lost !== undefined && lost < QUICK_TRIES;
    // A channel of its own: requests that an ending master left unanswered are not to be waited for.
    using channel = this.#open(lost);
    this.#signInChannel = channel;
    const tries = lost === undefined
      ? { timeoutMs: authTimeoutMs, tries: authTries }
      : { timeoutMs: quick ? Math.min((lost + 1) * QUICK_MS, authTimeoutMs) : authTimeoutMs, tries: 1 };
    if (lost !== undefined) this.#lostTries = lost + 1;
    // Who was never there is looked for by other means as well: the operator is not to wait for the end of the round.
    const looking = new AbortController();
    const reach = this.#credentials === undefined
      ? this.#lookFor(channel, AbortSignal.any([signal, looking.signal]))
      : undefined;
    try {
      return attempt.accept(await channel.request(attempt.request(), { ...tries, signal }));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RequestTimeoutError) {
        const why = await reach;
        if (why?.kind === "nameless") return await this.#lookUpAgain(why.text, last, signal);
        const text = `No master answers at ${address} (${
          lost === undefined ? `round ${round} of ${authTries} tries` : `try ${lost + 1}`
        })`;
        if (last) throw new SignInError(`Unable to sign_in to master: ${text}`, 1);
        const news = lost === undefined || !quick && (lost - QUICK_TRIES) % authTries === 0;
        log[news ? "error" : "debug"](`${text}; trying on`);
        return undefined;
      }
      if (error instanceof AuthenticationError || error instanceof WireError) {
        if (last) throw new SignInError(`Unable to sign_in to master: ${error.message}`, 1);
        log.critical(`Refused the answer of ${address} to our sign-in: ${error.message}`);
        // A liar answers at once: do not ask it in a tight loop.
        await sleep(Math.max(0, authTimeoutMs - (performance.now() - started)), signal);
        return undefined;
      }
      throw error;
    } finally {
      looking.abort();
      this.#signInChannel = undefined;
    }
  }

  /** Says after a while why nobody answers. A name that nobody knows ends the round: an answer cannot come. Never rejects. */
  async #lookFor(channel: RequestChannel, signal: AbortSignal): Promise<Reach | undefined> {
    const { address, log, patience: { silence } } = this.#settings;
    if (silence === undefined) return undefined;
    try {
      await sleep(silence.afterMs, signal);
      const reach = await reachOf(address, silence.afterMs);
      if (signal.aborted) return undefined;
      if (reach.kind === "nameless") channel.close();
      else log.error(`No answer from the master: ${reach.text}`);
      return reach;
    } catch (error) {
      if (!signal.aborted) log.warning(`Cannot find out why ${address} does not answer: ${error}`);
      return undefined;
    }
  }

  /** What `retry_dns` and `retry_dns_count` say of a name that nobody knows. */
  async #lookUpAgain(why: string, last: boolean, signal: AbortSignal): Promise<undefined> {
    const { log, patience: { silence } } = this.#settings;
    const { retryDnsMs, retryDnsCount } = silence ?? { retryDnsMs: 0, retryDnsCount: 0 };
    if (last || retryDnsMs === 0 || ++this.#lookUps > retryDnsCount) {
      throw new SignInError(`Unable to sign_in to master: ${why}`, 1);
    }
    log.error(`No answer from the master: ${why}; looking again in ${retryDnsMs / 1000} seconds (retry_dns)`);
    await sleep(retryDnsMs, signal);
  }

  /**
   * Sends `load` (its `cmd` and fields) under the session key, and gives the reply.
   * @throws {RequestTooLargeError} If the master does not take so large a request; it was not sent.
   * @throws {RequestTimeoutError} If the master does not answer in time.
   * @throws {WireError} If it answers with an error, or with nothing that opens.
   */
  async request(load: ValueMap, signal: AbortSignal, patience?: RequestPatience): Promise<Value> {
    return await this.#twice(signal, async () => {
      const nonce = crypto.randomUUID().replaceAll("-", "");
      const reply = decode(
        await this.#send(load, nonce, { ...patience ?? this.#settings.requestPatience, signal }),
        "wire",
        STRANGER,
      );
      const sealed = asBytes(reply);
      if (sealed === undefined || this.#session === undefined) throw new WireError(`The master answered ${str(reply)}`);
      return this.#session.loads(sealed, nonce);
    });
  }

  /**
   * Asks for this minion's pillar, which comes under a key of its own and signed by the master.
   * @throws {RequestTooLargeError} If the minion's grains make a request that the master does not take.
   * @throws {AuthenticationError} If a proof does not hold, even after a new sign-in.
   */
  async requestPillar(load: ValueMap, signal: AbortSignal): Promise<ValueMap> {
    const { applicant } = this.#settings;
    return await this.#twice(signal, async () => {
      const nonce = crypto.randomUUID().replaceAll("-", "");
      const answer = await this.#send(load, nonce, { ...this.#settings.requestPatience, signal });
      const reply = decode(answer, "wire", STRANGER);
      const key = isMap(reply) ? asBytes(reply.get("key")) : undefined;
      const sealed = isMap(reply) ? asBytes(reply.get("pillar")) : undefined;
      if (key === undefined || sealed === undefined) throw new WireError(`The master answered ${str(reply)}`);
      const keyString = new TextDecoder().decode(applicant.key.decrypt(applicant.encAlgorithm, key));
      const signed = new Crypticle(keyString).loads(sealed);
      const data = isMap(signed) ? asBytes(signed.get("data")) : undefined;
      const sig = isMap(signed) ? asBytes(signed.get("sig")) : undefined;
      if (!data || !sig || !this.#credentials?.masterKey.verify(applicant.sigAlgorithm, data, sig)) {
        throw new AuthenticationError("The master's signature of the pillar does not hold");
      }
      const inner = decode(data, "wire");
      if (!isMap(inner) || inner.get("nonce") !== nonce) {
        throw new AuthenticationError("The nonce of the pillar request did not come back");
      }
      const outerKey = asBytes(inner.get("key"));
      if (outerKey === undefined || !sameBytes(key, outerKey)) {
        throw new AuthenticationError("The pillar was signed for another key");
      }
      const pillar = inner.get("pillar");
      return isMap(pillar) ? pillar : new Map();
    });
  }

  /** Tries `ask`; if its reply does not open, signs in and tries once more. */
  async #twice<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    if (this.#credentials === undefined) await this.signIn(signal);
    try {
      return await readable(ask);
    } catch (error) {
      if (!(error instanceof AuthenticationError || error instanceof WireError)) throw error;
      this.#settings.log.debug(`${error.message}; signing in again`);
      await this.signIn(signal);
      return await readable(ask);
    }
  }

  async #send(load: ValueMap, nonce: string, options: RequestOptions): Promise<Uint8Array> {
    const { applicant, signMessages } = this.#settings;
    const { id, encAlgorithm, sigAlgorithm } = applicant;
    const proof = map({ ts: Math.floor(Date.now() / 1000), id });
    const full: ValueMap = new Map([...load, ["nonce", nonce], ...proof, ["tok", this.#token]]);
    // Everything but nonce, tok and sig itself is signed, in the dialect of files.
    if (signMessages) full.set("sig", applicant.key.sign(sigAlgorithm, encode(new Map([...load, ...proof]), "disk")));
    const session = this.#session;
    if (session === undefined) throw new AuthenticationError("Not signed in");
    const frame = encryptedRequest(session.dumps(full), { id, encAlgorithm, sigAlgorithm });
    const limit = this.maxRequestBytes;
    // The master would end the connection, which looks like a master that is not there.
    if (limit !== undefined && frame.length > limit) throw new RequestTooLargeError(frame.length, limit);
    return await this.#channel.request(frame, options);
  }

  /** Whether the master answers at all: a small question that needs no key. Rejects only with the signal's reason. */
  async answers(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#channel.request(clearRequest(map({ cmd: "ping" })), { timeoutMs: PING_MS, tries: 1, signal });
      return true;
    } catch (error) {
      if (error instanceof RequestTimeoutError) return false;
      throw error;
    }
  }

  /** Connects anew, for whoever knows that the connection is lost; a request or sign-in under way is sent again. */
  reconnect(): void {
    this.#lostTries = 0;
    this.#channel.reset();
    this.#signInChannel?.reset();
  }

  /** Ends it; requests and sign-ins under way fail. */
  close(): void {
    this.#closing.abort(new Error("The link to the master is closed"));
    this.#channel.close();
  }
}

/** Does `ask`; a reply that is no msgpack counts as any other nonsense on the wire. */
async function readable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof MsgpackError ? new WireError(`The master's answer cannot be read: ${error.message}`) : error;
  }
}
