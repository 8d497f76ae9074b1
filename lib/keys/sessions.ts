/**
 * The key that each minion's own requests are encrypted with: one file a minion under `<cachedir>/sessions`.
 *
 * Made at the first sign-in, kept over restarts, replaced when it is older than `publish_session`. All threads share the
 * files, and in memory what any of them has read, until the file changes: a request costs one look at its file, whichever
 * thread it comes to, and no thread keeps all minions.
 * @module
 */

import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { Crypticle, generateKeyString, KEY_BYTES } from "../crypto/crypticle.ts";
import { KeyError } from "../errors.ts";
import { isValidId } from "../protocol/minion_id.ts";
import { BoundedMap } from "../values/bounded_map.ts";
import { SharedTable } from "./shared_table.ts";

/** How many crypticles a thread keeps ready: to make one takes a tenth of a request. */
const READY = 512;

interface Session {
  /** Tells the file that it was read from. */
  readonly version: string;
  readonly mtimeMs: number;
  readonly crypticle: Crypticle;
}

/** The sessions of one master, as one thread sees them. */
export class SessionKeys {
  readonly #directory: string;
  readonly #lifetimeMs: number;
  readonly #known: SharedTable;
  readonly #ready = new BoundedMap<string, Session>(READY);

  /**
   * Makes the directory if it is not there.
   * @param lifetimeMs After how long a sign-in makes a new key.
   * @param memory Another thread's, for what all of them have read.
   */
  constructor(cachedir: string, lifetimeMs: number, memory?: SharedArrayBuffer) {
    this.#directory = `${cachedir}/sessions`;
    this.#lifetimeMs = lifetimeMs;
    this.#known = new SharedTable(KEY_BYTES, memory);
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** What other threads share. */
  get memory(): SharedArrayBuffer {
    return this.#known.memory;
  }

  /** The key string for a sign-in of `id`: the one in force, or a new one. */
  forSignIn(id: string): string {
    const session = this.#read(id);
    if (session !== undefined && Date.now() - session.mtimeMs < this.#lifetimeMs) {
      return session.crypticle.keyString;
    }
    writeFileAtomic(this.#path(id), generateKeyString(), { mode: 0o600, makeDirectory: true });
    const made = this.#read(id);
    if (made === undefined) throw new Error(`The session of ${id} vanished while it was made`);
    return made.crypticle.keyString;
  }

  /** What opens the requests of `id`; `undefined` if it never signed in. */
  crypticle(id: string): Crypticle | undefined {
    return isValidId(id) ? this.#read(id)?.crypticle : undefined;
  }

  /** Forgets the session of `id`, whose key is gone. */
  remove(id: string): void {
    this.#ready.delete(id);
    if (isValidId(id)) removeIfExists(this.#path(id));
  }

  #path(id: string): string {
    return `${this.#directory}/${id}`;
  }

  #read(id: string): Session | undefined {
    const path = this.#path(id);
    let file: Deno.FileInfo;
    try {
      file = Deno.statSync(path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return undefined;
    }
    const mtimeMs = file.mtime?.getTime() ?? 0;
    // The clock of the time may tick 250 times a second only: a file that took another's place is told by its inode.
    const version = `${file.ino}:${mtimeMs}`;
    const ready = this.#ready.get(id);
    if (ready?.version === version) return ready;
    const known = this.#known.get(id, version);
    const text = known?.toBase64() ?? readTextFileIfExists(path)?.trim();
    if (text === undefined) return undefined;
    try {
      const crypticle = new Crypticle(text);
      if (known === undefined) this.#known.put(id, version, Uint8Array.fromBase64(text));
      const session = { version, mtimeMs, crypticle };
      this.#ready.set(id, session);
      return session;
    } catch (error) {
      if (error instanceof KeyError) return undefined; // the next sign-in makes a new one
      throw error;
    }
  }
}
