/**
 * The session keys of minions, which encrypt their requests: one file per minion in `<cachedir>/sessions`. Made at the
 * first sign-in, kept over restarts, replaced when older than `publish_session`. All threads share the files, and what
 * any of them has read is in shared memory until the file changes: a request costs one check of its file in any thread,
 * and no thread keeps all sessions.
 * @module
 */

import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { Crypticle, generateKeyString, KEY_BYTES } from "#lib/crypto/crypticle.ts";
import { KeyError } from "#lib/errors.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { SharedTable } from "./shared_table.ts";

/** Number of crypticles that a thread caches: making one takes a tenth of a request. */
const READY = 512;

interface Session {
  /** Identifies the version of the file that was read. */
  readonly version: string;
  readonly mtimeMs: number;
  readonly crypticle: Crypticle;
}

/** The session keys of minions, as one thread sees them: in files, or computed (derived_sessions.ts). */
export interface MinionSessions {
  /** The key string for a sign-in of `id`, whose key is accepted: the current one, or a new one. */
  forSignIn(id: string): string;
  /** Whether a sign-in of `id` would give it another key than the one of its last request. */
  isOld(id: string): boolean;
  /** What a request of `id` may be encrypted with, the likeliest first; none if it has never signed in. */
  crypticles(id: string): readonly Crypticle[];
  /** A request of `id` was encrypted with this one. */
  noteUse?(id: string, crypticle: Crypticle): void;
  /** Removes the session of `id`, whose key was deleted. */
  remove(id: string): void;
}

/** The sessions of one master in files, as one thread sees them. */
export class SessionKeys implements MinionSessions {
  readonly #directory: string;
  readonly #lifetimeMs: number;
  readonly #known: SharedTable;
  readonly #ready = new BoundedMap<string, Session>(READY);

  /**
   * Makes the directory if it does not exist.
   * @param lifetimeMs Age after which a sign-in makes a new key.
   * @param memory The shared memory of another thread.
   */
  constructor(cachedir: string, lifetimeMs: number, memory?: SharedArrayBuffer) {
    this.#directory = `${cachedir}/sessions`;
    this.#lifetimeMs = lifetimeMs;
    this.#known = new SharedTable(KEY_BYTES, memory);
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** Shared with other threads. */
  get memory(): SharedArrayBuffer {
    return this.#known.memory;
  }

  /** The key string for a sign-in of `id`: the current one, or a new one. */
  forSignIn(id: string): string {
    const session = this.#read(id);
    if (session !== undefined && !this.isOld(id)) return session.crypticle.keyString;
    writeFileAtomic(this.#path(id), generateKeyString(), { mode: 0o600, makeDirectory: true });
    // Not from memory: if the directory was removed, the new file may have the inode and the time of the old one.
    const made = this.#read(id, { fromMemory: false });
    if (made === undefined) throw new Error(`The session of ${id} vanished while it was made`);
    return made.crypticle.keyString;
  }

  /** Whether a sign-in of `id` would make a new key. */
  isOld(id: string): boolean {
    const session = isValidId(id) ? this.#read(id) : undefined;
    return session === undefined || Date.now() - session.mtimeMs >= this.#lifetimeMs;
  }

  /** The crypticle for requests of `id`; `undefined` if it has never signed in. */
  crypticle(id: string): Crypticle | undefined {
    return isValidId(id) ? this.#read(id)?.crypticle : undefined;
  }

  /** As {@linkcode MinionSessions} says. */
  crypticles(id: string): readonly Crypticle[] {
    const crypticle = this.crypticle(id);
    return crypticle === undefined ? [] : [crypticle];
  }

  /** Removes the session of `id`, whose key was deleted. */
  remove(id: string): void {
    this.#ready.delete(id);
    if (isValidId(id)) removeIfExists(this.#path(id));
  }

  #path(id: string): string {
    return `${this.#directory}/${id}`;
  }

  #read(id: string, { fromMemory = true } = {}): Session | undefined {
    const path = this.#path(id);
    let file: Deno.FileInfo;
    try {
      file = Deno.statSync(path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return undefined;
    }
    const mtimeMs = file.mtime?.getTime() ?? 0;
    // File times may change only 250 times a second, so the inode identifies a replaced file.
    const version = `${file.ino}:${mtimeMs}`;
    const ready = this.#ready.get(id);
    if (fromMemory && ready?.version === version) return ready;
    const remembered = fromMemory ? this.#known.get(id, version) : undefined;
    const text = remembered?.toBase64() ?? readTextFileIfExists(path)?.trim();
    if (text === undefined) return undefined;
    try {
      const crypticle = new Crypticle(text);
      if (remembered === undefined) {
        const bytes = Uint8Array.fromBase64(text);
        // Cut by a power failure in its padding: threads would know the same key by two texts, of which a proof of
        // presence holds for one.
        if (bytes.toBase64() !== text) return undefined;
        this.#known.put(id, version, bytes);
      }
      const session = { version, mtimeMs, crypticle };
      this.#ready.set(id, session);
      return session;
    } catch (error) {
      if (error instanceof KeyError) return undefined; // the next sign-in makes a new key
      throw error;
    }
  }
}
