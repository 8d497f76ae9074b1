/**
 * A minion's connection to its master's port 4506: signs in, waits as the master demands, and sends encrypted requests.
 * If a reply cannot be decrypted (the master restarted, or rotated its keys), it signs in again and repeats the request
 * once. Knows nothing of publishes or jobs.
 * Source: docs/protocol.md "Envelopes", docs/protocol.md "The reply", docs/protocol.md "Pillar".
 * @module
 */

import type { Backoff } from "#lib/minion/masters/backoff.ts";
import { Crypticle } from "#lib/crypto/crypticle.ts";
import {
  AuthenticationError,
  MasterLeftError,
  MsgpackError,
  RequestTimeoutError,
  RequestTooLargeError,
  SignInError,
  WireError,
} from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterAddresses } from "./master_addresses.ts";
import { type Reach, reachOf } from "./master_diagnosis.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { asBytes, clearRequest, encryptedRequest, UNAUTHENTICATED_BOUNDS } from "#lib/protocol/payload.ts";
import { RequestChannel, type RequestOptions, type RequestTimeouts } from "#lib/sockets/request_channel.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import { openPillarReply } from "./pillar_reply.ts";
import { SharedKeyRenewal } from "./shared_key_renewal.ts";
import { type Applicant, SignIn, type SignInCredentials, type SignInReply } from "./sign_in.ts";
import { sleep } from "#lib/os/sleep.ts";
import { EX_NOPERM } from "#lib/runtime/sysexits.ts";
import type { KeepAlive } from "#lib/sockets/settings.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Time limits of a sign-in, in milliseconds. */
export interface SignInTimeouts {
  /** For each try to reach the master. */
  readonly authTimeoutMs: number;
  /** Tries in a round. */
  readonly authTries: number;
  /** Rounds of `authTries` at the first sign-in; -1: no limit. A link that has been connected never gives up. */
  readonly masterTries: number;
  /** Wait before asking again whether the key is accepted; doubles up to the maximum, if that is larger. */
  readonly acceptanceWaitMs: number;
  /** Maximum of this wait. If it is below the first wait, the wait does not grow. */
  readonly acceptanceWaitMaxMs: number;
  /** Whether to continue after a rejection. */
  readonly rejectedRetry: boolean;
  /** Time before giving up after a rejection, random between these two. */
  readonly rejectedWaitMs: readonly [number, number];
  /**
   * Whether to give up if the key is still not accepted after one wait, as salt-call does; `at once`: without a wait,
   * as one of several masters, of which another may accept it.
   */
  readonly failOnPending: boolean | "at once";
  /** What to do if the master does not answer the first sign-in. Default: it continues without a message. */
  readonly silence?: {
    /** After this time the cause is searched and reported. */
    readonly afterMs: number;
    /** Wait before an unknown name of the master is looked up again; 0: give up. */
    readonly retryDnsMs: number;
    /** Look-ups of an unknown name before giving up. */
    readonly retryDnsCount: number;
  };
}

export interface LinkSettings {
  /** `tcp://host:4506`, or the addresses of a name. */
  readonly address: string | MasterAddresses;
  /** The minion that signs in. */
  readonly applicant: Applicant;
  /** Time limits of a sign-in. */
  readonly timeouts: SignInTimeouts;
  /** Waits before each new sign-in after a lost connection. */
  readonly backoff: Backoff;
  /** Time limits of other requests. */
  readonly requestTimeouts: RequestTimeouts;
  /** Whether requests are signed with the minion's key (`minion_sign_messages`). */
  readonly signMessages: boolean;
  /** Maximum bytes of a request; 0: the limit that the master gives at sign-in. Default: 0. */
  readonly maxRequestBytes?: number;
  /** TCP keep-alive of idle connections. Default: the system's. */
  readonly keepalive?: KeepAlive;
  /** Whether names may resolve to IPv6 addresses; default: depends on the address. */
  readonly ipv6?: boolean;
  readonly log: Logger;
  /** Called after each sign-in, also the first. */
  onSignedIn?(credentials: SignInCredentials): void;
}

/** Exit code for a key that is still pending. */
const EXIT_PENDING = 2;
/**
 * The first tries after a lost connection are short, each longer by this many milliseconds: an ending master loses the
 * first request, and usually a new master is there soon. While the connection holds, no request is sent twice: the
 * shared key may have changed, so that the whole fleet signs in and the master is busy.
 */
const QUICK_TRIES = 2;
const QUICK_MS = 1_000;

/** Maximum time for a running master to answer a PING, in milliseconds; it may be busy. */
const PING_MS = 10_000;

/** The minion's signed-in connection to one master. */
export class MasterLink {
  readonly #settings: LinkSettings;
  readonly #addresses: MasterAddresses | undefined;
  /** The address of the last sign-in. */
  #signedInAt: string | undefined;
  readonly #channel: RequestChannel;
  /** The shared key between two sign-ins. */
  readonly sharedKey: SharedKeyRenewal;
  /** The proof of the minion's key, made once for each. */
  #proof: { readonly key: PrivateKey; readonly token: Uint8Array } | undefined;
  readonly #closing = new AbortController();
  #signingIn: Promise<SignInCredentials> | undefined;
  #credentials: SignInCredentials | undefined;
  #session: Crypticle | undefined;
  /** Number of look-ups that found no address for the master's name. */
  #lookUps = 0;
  /** Tries to sign in since the connection was lost; `undefined` while it holds, or before it existed. */
  #lostTries: number | undefined;
  /** The channel of the current sign-in. */
  #signInChannel: RequestChannel | undefined;

  /** Connects at the first {@linkcode signIn}. */
  constructor(settings: LinkSettings) {
    this.#settings = { ...settings, log: settings.log.named("salt.transport") };
    this.#addresses = typeof settings.address === "string" ? undefined : settings.address;
    this.#channel = this.#open();
    this.sharedKey = new SharedKeyRenewal(this, {
      log: this.#settings.log,
      closing: this.#closing.signal,
      take: (credentials) => {
        this.#credentials = credentials;
        this.#settings.onSignedIn?.(credentials);
      },
    });
  }

  /**
   * Opens a channel to the master. For try `lost` after a lost connection, it connects no more often than the tries are
   * made.
   */
  #open(lost?: number): RequestChannel {
    const { keepalive, ipv6, backoff } = this.#settings;
    const pace = lost === undefined ? {} : { reconnectMs: backoff.reconnect(lost), reconnectMaxMs: 0 };
    return new RequestChannel(() => this.address, { keepalive, ipv6, ...pace });
  }

  /** `tcp://host:port` that requests go to now. */
  get address(): string {
    const { address } = this.#settings;
    return typeof address === "string" ? address : address.address;
  }

  /** Whether it is signed in, and its connection is not known to be lost. */
  get connected(): boolean {
    return this.#credentials !== undefined && this.#lostTries === undefined;
  }

  /** Whether a sign-in is going on. */
  get isSigningIn(): boolean {
    return this.#signingIn !== undefined;
  }

  /** The keys of the last sign-in, and the shared key since then. */
  get credentials(): SignInCredentials | undefined {
    return this.#credentials;
  }

  /** Maximum bytes of a request, if known: the master's limit, or less by the minion's option. */
  get maxRequestBytes(): number | undefined {
    const own = this.#settings.maxRequestBytes || Infinity;
    const min = Math.min(own, this.#credentials?.maxRequestBytes ?? Infinity);
    return min === Infinity ? undefined : min;
  }

  /**
   * Signs in, however long the operator takes to accept the key; concurrent calls share one sign-in.
   * @throws {SignInError} If waiting cannot help.
   */
  signIn(signal: AbortSignal): Promise<SignInCredentials> {
    this.#signingIn ??= this.#signInOnce(AbortSignal.any([signal, this.#closing.signal])).finally(() =>
      this.#signingIn = undefined
    );
    return this.#signingIn;
  }

  /**
   * Signs in with the key that the minion has now, after a sign-in that may have presented the one before.
   * @throws {SignInError} If waiting cannot help.
   */
  async signInAnew(signal: AbortSignal): Promise<SignInCredentials> {
    await this.#signingIn?.catch(() => {}); // whoever waits for it gets the error
    return await this.signIn(signal);
  }

  #token(): Uint8Array {
    const { key } = this.#settings.applicant;
    if (this.#proof?.key !== key) this.#proof = { key, token: key.signX931(new TextEncoder().encode("salt")) };
    return this.#proof.token;
  }

  async #signInOnce(signal: AbortSignal): Promise<SignInCredentials> {
    const { log, timeouts, applicant } = this.#settings;
    let waitMs = timeouts.acceptanceWaitMs;
    let wasPending = false;
    for (let round = 1;; round++) {
      signal.throwIfAborted();
      if (this.#lostTries !== undefined) {
        if (this.#lostTries > 0) await this.#addresses?.change();
        await sleep(this.#settings.backoff.pause(this.#lostTries), signal);
      }
      const reply = await this.#apply(round, signal);
      if (reply !== undefined) this.#lostTries = undefined;
      const waits = reply?.kind === "pending" || reply?.kind === "full" ||
        reply?.kind === "rejected" && timeouts.rejectedRetry;
      if (waits && (wasPending && timeouts.failOnPending || timeouts.failOnPending === "at once")) {
        throw new SignInError(
          "Minion failed to authenticate with the master, has the minion key been accepted?",
          EXIT_PENDING,
        );
      }
      wasPending ||= waits;
      switch (reply?.kind) {
        case "accepted":
          // A new key means a new master process, which will not answer requests to the old one.
          if (this.#credentials && this.#credentials.sharedKey !== reply.credentials.sharedKey) this.#channel.reset();
          else if (this.#signedInAt !== undefined && this.#signedInAt !== this.address) this.#channel.reset();
          this.#signedInAt = this.address;
          this.#credentials = reply.credentials;
          this.sharedKey.forgetNext();
          this.#session = new Crypticle(reply.credentials.sessionKey);
          log.info(`Signed in to the master at ${this.address} as ${applicant.id}`);
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
          const [shortest, longest] = timeouts.rejectedWaitMs;
          if (timeouts.rejectedRetry) {
            log.error(`The master has rejected this minion's key; asking again in ${waitMs / 1000} seconds`);
            break;
          }
          log.error("The master has rejected this minion's key. On the master: salt-key --delete or --accept it");
          await sleep(shortest + Math.random() * (longest - shortest), signal);
          throw new SignInError("The Salt Master has rejected this minion's public key", EX_NOPERM);
        }
        case "full":
          log.error(`The master has max_minions minions; asking again in ${waitMs / 1000} seconds`);
          break;
        case undefined:
          continue; // the master is not there, and #apply has waited already
      }
      await sleep(waitMs, signal);
      waitMs = Math.min(waitMs * 2, Math.max(timeouts.acceptanceWaitMaxMs, timeouts.acceptanceWaitMs));
    }
  }

  /** Sends one sign-in request; `undefined` if there is no authentic answer. */
  async #apply(round: number, signal: AbortSignal): Promise<SignInReply | undefined> {
    const { log, timeouts } = this.#settings, address = this.address;
    const attempt = new SignIn(this.#settings.applicant);
    const started = performance.now();
    const last = this.#credentials === undefined && timeouts.masterTries >= 0 && round >= timeouts.masterTries;
    const { authTimeoutMs, authTries } = timeouts;
    const lost = this.#lostTries;
    const quick = lost !== undefined && lost < QUICK_TRIES;
    // A separate channel, so that it does not wait for requests that an ending master left unanswered.
    using channel = this.#open(lost);
    this.#signInChannel = channel;
    const tries = lost === undefined
      ? { timeoutMs: authTimeoutMs, tries: authTries }
      : { timeoutMs: quick ? Math.min((lost + 1) * QUICK_MS, authTimeoutMs) : authTimeoutMs, tries: 1 };
    if (lost !== undefined) this.#lostTries = lost + 1;
    // If the master was never reached, the reason is searched meanwhile, so that the operator need not wait for the end
    // of the round.
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
        const isLogged = lost === undefined || !quick && (lost - QUICK_TRIES) % authTries === 0;
        log[isLogged ? "error" : "debug"](`${text}; trying on`);
        return undefined;
      }
      if (error instanceof AuthenticationError || error instanceof WireError) {
        if (last) throw new SignInError(`Unable to sign_in to master: ${error.message}`, 1);
        log.critical(`Refused the answer of ${address} to our sign-in: ${error.message}`);
        // An attacker answers at once: do not ask in a tight loop.
        await sleep(Math.max(0, authTimeoutMs - (performance.now() - started)), signal);
        return undefined;
      }
      throw error;
    } finally {
      looking.abort();
      this.#signInChannel = undefined;
    }
  }

  /**
   * Reports after a while why there is no answer. An unknown name ends the round, because no answer can come. Never
   * rejects.
   */
  async #lookFor(channel: RequestChannel, signal: AbortSignal): Promise<Reach | undefined> {
    const { log, timeouts: { silence } } = this.#settings;
    if (silence === undefined) return undefined;
    await sleep(silence.afterMs, signal).catch(() => {}); // aborted: it answers, or the minion ends
    if (!signal.aborted && await this.#addresses?.change()) {
      log.info(`No answer from the master: trying another address of its name: ${this.address}`);
      channel.reset();
      return undefined;
    }
    const reach = signal.aborted ? undefined : await reachOf(this.address, silence.afterMs);
    if (reach === undefined || signal.aborted) return undefined;
    if (reach.kind === "nameless") channel.close();
    else log.error(`No answer from the master: ${reach.text}`);
    return reach;
  }

  /** Applies `retry_dns` and `retry_dns_count` to an unknown name. */
  async #lookUpAgain(why: string, last: boolean, signal: AbortSignal): Promise<undefined> {
    const { log, timeouts: { silence } } = this.#settings;
    const { retryDnsMs, retryDnsCount } = silence ?? { retryDnsMs: 0, retryDnsCount: 0 };
    if (last || retryDnsMs === 0 || ++this.#lookUps > retryDnsCount) {
      throw new SignInError(`Unable to sign_in to master: ${why}`, 1);
    }
    log.error(`No answer from the master: ${why}; looking again in ${retryDnsMs / 1000} seconds (retry_dns)`);
    await sleep(retryDnsMs, signal);
  }

  /**
   * Sends `load` (its `cmd` and fields) encrypted with the session key, and returns the reply.
   * @throws {RequestTooLargeError} If the master does not accept such a large request; it was not sent.
   * @throws {RequestTimeoutError} If the master does not answer in time.
   * @throws {WireError} If the answer is an error, or cannot be decrypted.
   */
  async request(load: ValueMap, signal: AbortSignal, timeouts?: RequestTimeouts): Promise<Value> {
    this.#settings.log.debug(() => `Sends ${requestText(load)} to ${this.address}`);
    return await this.#twice(signal, async () => {
      const nonce = crypto.randomUUID().replaceAll("-", "");
      const reply = decode(
        await this.#send(load, nonce, { ...timeouts ?? this.#settings.requestTimeouts, signal }),
        "wire",
        UNAUTHENTICATED_BOUNDS,
      );
      const sealed = asBytes(reply);
      if (sealed === undefined || this.#session === undefined) throw new WireError(`The master answered ${str(reply)}`);
      return this.#session.loads(sealed, nonce);
    });
  }

  /**
   * Requests this minion's pillar, which is encrypted with its own key and signed by the master.
   * @throws {RequestTooLargeError} If the minion's grains make the request too large for the master.
   * @throws {AuthenticationError} If verification fails, even after a new sign-in.
   */
  async requestPillar(load: ValueMap, signal: AbortSignal): Promise<ValueMap> {
    this.#settings.log.debug(() => `Sends ${requestText(load)} to ${this.address}`);
    return await this.#twice(signal, async () => {
      const nonce = crypto.randomUUID().replaceAll("-", "");
      const answer = await this.#send(load, nonce, { ...this.#settings.requestTimeouts, signal });
      return openPillarReply(answer, { applicant: this.#settings.applicant, signer: this.#credentials, nonce });
    });
  }

  /** Runs `ask`. If the reply cannot be decrypted, signs in and runs it once more. */
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
    const full: ValueMap = new Map([...load, ["nonce", nonce], ...proof, ["tok", this.#token()]]);
    // Everything except nonce, tok and sig itself is signed, in the dialect of files.
    if (signMessages) full.set("sig", applicant.key.sign(sigAlgorithm, encode(new Map([...load, ...proof]), "disk")));
    const session = this.#session;
    if (session === undefined) throw new AuthenticationError("Not signed in");
    const frame = encryptedRequest(session.dumps(full), { id, encAlgorithm, sigAlgorithm });
    const limit = this.maxRequestBytes;
    // The master would close the connection, which would look like a missing master.
    if (limit !== undefined && frame.length > limit) throw new RequestTooLargeError(frame.length, limit);
    return await this.#channel.request(frame, options);
  }

  /** Whether the master answers at all: a small request without a key. Rejects only with the signal's reason. */
  async answers(signal: AbortSignal, timeoutMs = PING_MS): Promise<boolean> {
    try {
      await this.#channel.request(clearRequest(map({ cmd: "ping" })), { timeoutMs, tries: 1, signal });
      return true;
    } catch (error) {
      if (error instanceof RequestTimeoutError) return false;
      throw error;
    }
  }

  /** Connects again, if the caller knows that the connection is lost; a running request or sign-in is sent again. */
  reconnect(): void {
    this.#lostTries = 0;
    this.#channel.reset();
    this.#signInChannel?.reset();
  }

  /** Closes the link; running requests and sign-ins fail. */
  close(): void {
    this.#closing.abort(new MasterLeftError("The link to the master is closed"));
    this.#channel.close();
  }
}

/** Runs `ask`; a reply that is not msgpack becomes a WireError. */
async function readable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof MsgpackError ? new WireError(`The master's answer cannot be read: ${error.message}`) : error;
  }
}

/** What a request is, for the log: its command, and its job or event. */
function requestText(load: ValueMap): string {
  const field = (name: string) => load.has(name) ? ` ${name} ${truncateValue(load.get(name) ?? null)}` : "";
  return `${str(load.get("cmd") ?? null)}${field("jid")}${field("tag")}`;
}
