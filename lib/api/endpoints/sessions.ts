/**
 * Sessions of the API: each holds a token of Salt's. A session's id is the key that its file is encrypted with, and the
 * name of the file is the id's hash: sessions survive a restart, and no file has a secret that opens anything.
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { Crypticle, KEY_BYTES } from "#lib/crypto/crypticle.ts";
import { hashBytes, hashHex } from "#lib/crypto/hash.ts";
import { AuthenticationError } from "#lib/errors.ts";
import { listDirectory } from "#lib/os/store_files.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { EndWatches } from "./end_watches.ts";
import { isMap, map, toNumber, type Value } from "#lib/values/value.ts";

/** What a user who has logged in may use until it ends. */
export interface ApiSession {
  /** 40 hexadecimal digits: what the client sends. */
  readonly id: string;
  /** The token of Salt's, which the master checks at each call. */
  readonly token: string;
  readonly user: string;
  readonly eauth: string;
  /** When the token ends, in seconds since the epoch. */
  readonly expireS: number;
  /** The id of the API token, if this is the session of one. */
  readonly apiToken?: string;
  /** When a request last used it, in milliseconds since the epoch. */
  usedMs: number;
}

/** What a new session is made of. */
export type NewSession = Pick<ApiSession, "token" | "user" | "eauth" | "expireS">;

const ID_BYTES = 20;
const ID = /^[0-9a-f]{40}$/;
/** Maximum number of sessions; the one that was used longest ago ends. */
const MAX_SESSIONS = 10_000;
/** Maximum number of sessions of one user, as many as of tokens; the one that was used longest ago ends. */
const MAX_OF_USER = 1_000;
/** The time of the last use is written this often, in milliseconds. */
const WRITE_MS = 60_000;

/** The sessions of one API. */
export class Sessions {
  readonly #directory: string;
  readonly #idleMs: number;
  readonly #log: Logger;
  readonly #ends: EndWatches;
  readonly #open = new Map<string, { readonly session: ApiSession; writtenMs: number }>();

  /**
   * @param options.directory Where their files are; made with mode 0700.
   * @param options.idleMs A session ends when it was not used for so long, in milliseconds.
   */
  constructor({ directory, idleMs, ends, log }: {
    readonly directory: string;
    readonly idleMs: number;
    readonly ends: EndWatches;
    readonly log: Logger;
  }) {
    this.#directory = directory;
    this.#idleMs = idleMs;
    this.#log = log;
    this.#ends = ends;
    this.#removeOld();
  }

  /** Starts a session under a new id. */
  start(fields: NewSession): ApiSession {
    const id = crypto.getRandomValues(new Uint8Array(ID_BYTES)).toHex();
    const session: ApiSession = { ...fields, id, usedMs: Date.now() };
    const own = [...this.#open.values()].map((held) => held.session)
      .filter(({ user, eauth }) => user === fields.user && eauth === fields.eauth);
    if (own.length >= MAX_OF_USER) this.end(leastUsed(own));
    else if (this.#open.size >= MAX_SESSIONS) this.end(leastUsed([...this.#open.values()].map((held) => held.session)));
    this.#open.set(id, { session, writtenMs: session.usedMs });
    this.#write(session);
    return session;
  }

  /** The session with this id, which is used now; `undefined` if there is none, or it has ended. */
  use(id: string | null | undefined): ApiSession | undefined {
    if (typeof id !== "string" || !ID.test(id)) return undefined;
    const held = this.#open.get(id) ?? this.#restore(id);
    if (held === undefined) return undefined;
    const { session } = held, nowMs = Date.now();
    if (nowMs - session.usedMs > this.#idleMs || nowMs / 1000 > session.expireS) {
      this.end(id);
      return undefined;
    }
    session.usedMs = nowMs;
    if (nowMs - held.writtenMs > WRITE_MS) {
      held.writtenMs = nowMs;
      this.#write(session);
    }
    return session;
  }

  /** Ends a session; its open streams are told. */
  end(id: string): void {
    this.#open.delete(id);
    removeIfExists(this.#path(id));
    this.#ends.tell(id);
  }

  /** Ends the sessions of a user that were used since the start; the others end with their tokens. */
  endAllOf({ user, eauth }: Pick<ApiSession, "user" | "eauth">): void {
    for (const { session } of [...this.#open.values()]) {
      if (session.user === user && session.eauth === eauth) this.end(session.id);
    }
  }

  #write(session: ApiSession): void {
    const { token, user, eauth, expireS, usedMs } = session;
    const sealed = keyOf(session.id).dumps(map({ token, user, eauth, expireS, usedMs }));
    writeFileAtomic(this.#path(session.id), sealed, { mode: 0o600, makeDirectory: true });
  }

  #restore(id: string): { readonly session: ApiSession; writtenMs: number } | undefined {
    const sealed = readFileIfExists(this.#path(id));
    if (sealed === undefined) return undefined;
    const session = this.#unseal(id, sealed);
    if (session === undefined) return undefined;
    const held = { session, writtenMs: session.usedMs };
    this.#open.set(id, held);
    return held;
  }

  #unseal(id: string, sealed: Uint8Array): ApiSession | undefined {
    let value: Value;
    try {
      value = keyOf(id).loads(sealed);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      this.#log.warning("The file of a session was changed: the session has ended");
      return undefined;
    }
    if (!isMap(value)) return undefined;
    const [token, user, eauth] = ["token", "user", "eauth"].map((name) => value.get(name));
    const [expireS, usedMs] = [toNumber(value.get("expireS")), toNumber(value.get("usedMs"))];
    if (typeof token !== "string" || typeof user !== "string" || typeof eauth !== "string") return undefined;
    if (expireS === undefined || usedMs === undefined) return undefined;
    return { id, token, user, eauth, expireS, usedMs };
  }

  /** Removes the files of sessions that nobody can use any more. */
  #removeOld(): void {
    for (const { name } of listDirectory(this.#directory, (text) => this.#log.warning(text))) {
      const path = `${this.#directory}/${name}`;
      const { mtime } = Deno.lstatSync(path);
      if (mtime !== null && Date.now() - mtime.getTime() > this.#idleMs + WRITE_MS) removeIfExists(path);
    }
  }

  #path(id: string): string {
    return `${this.#directory}/${hashHex(`salt-api session name\0${id}`, "sha256")}`;
  }
}

/** The id of the session that was used longest ago. */
function leastUsed(sessions: readonly ApiSession[]): string {
  return sessions.reduce((oldest, session) => session.usedMs < oldest.usedMs ? session : oldest).id;
}

/** The key that the file of the session `id` is encrypted with. */
function keyOf(id: string): Crypticle {
  return new Crypticle(hashBytes(`salt-api session key\0${id}`, "sha512").subarray(0, KEY_BYTES).toBase64());
}
