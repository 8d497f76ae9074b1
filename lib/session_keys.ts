/**
 * The key that each minion's own requests are encrypted with: one file a minion under `<cachedir>/sessions`.
 *
 * Made at the first sign-in, kept over restarts, replaced when it is older than `publish_session`. All MWorkers share the
 * files; each keeps what it has read until a file changes.
 * @module
 */

import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { Crypticle, generateKeyString } from "./crypticle.ts";
import { KeyError } from "./errors.ts";
import { isValidId } from "./minion_name.ts";

interface Session {
  readonly mtimeMs: number;
  /** The file itself: the clock of its time may tick 250 times a second only. */
  readonly inode: number | null;
  readonly text: string;
  readonly crypticle: Crypticle;
}

/** The sessions of one master. */
export class SessionKeys {
  readonly #directory: string;
  readonly #lifetimeMs: number;
  readonly #known = new Map<string, Session>();

  /** Makes the directory if it is not there. @param lifetimeMs After how long a sign-in makes a new key. */
  constructor(cachedir: string, lifetimeMs: number) {
    this.#directory = `${cachedir}/sessions`;
    this.#lifetimeMs = lifetimeMs;
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** The key string for a sign-in of `id`: the one in force, or a new one. */
  forSignIn(id: string): string {
    const session = this.#read(id);
    if (session !== undefined && Date.now() - session.mtimeMs < this.#lifetimeMs) return session.text;
    writeFileAtomic(this.#path(id), generateKeyString(), { mode: 0o600, makeDirectory: true });
    this.#known.delete(id);
    const made = this.#read(id);
    if (made === undefined) throw new Error(`The session of ${id} vanished while it was made`);
    return made.text;
  }

  /** What opens the requests of `id`; `undefined` if it never signed in. */
  crypticle(id: string): Crypticle | undefined {
    return isValidId(id) ? this.#read(id)?.crypticle : undefined;
  }

  /** Forgets the session of `id`, whose key is gone. */
  remove(id: string): void {
    this.#known.delete(id);
    if (isValidId(id)) removeIfExists(this.#path(id));
  }

  #path(id: string): string {
    return `${this.#directory}/${id}`;
  }

  #read(id: string): Session | undefined {
    const path = this.#path(id);
    let mtimeMs: number, inode: number | null;
    try {
      const { mtime, ino } = Deno.statSync(path);
      [mtimeMs, inode] = [mtime?.getTime() ?? 0, ino];
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      this.#known.delete(id);
      return undefined;
    }
    const known = this.#known.get(id);
    if (known !== undefined && known.mtimeMs === mtimeMs && known.inode === inode) return known;
    const text = readTextFileIfExists(path)?.trim();
    if (text === undefined) return undefined;
    try {
      const session = { mtimeMs, inode, text, crypticle: new Crypticle(text) };
      this.#known.set(id, session);
      return session;
    } catch (error) {
      if (error instanceof KeyError) return undefined; // the next sign-in makes a new one
      throw error;
    }
  }
}
