/**
 * The key that every publish is encrypted with, shared by all threads of the master and new at every start.
 *
 * It lies in shared memory: when Maintenance rotates it, every MWorker and the publisher see the new one with their next
 * message, so that no minion is handed an old key while a job under the new one is on its way. Never on disk.
 * @module
 */

import { Crypticle, generateKeyString } from "../crypto/crypticle.ts";

/** Length of a key string, in bytes of ASCII. */
const KEY_LENGTH = 76;
/** Two Int32: the generation (odd while the key is being written), and the last serial. */
const HEADER_BYTES = 8;
const GENERATION = 0;
const SERIAL = 1;

/** One thread's view of the shared key. */
export class SharedKey {
  /** What other threads make their own view of. */
  readonly memory: SharedArrayBuffer;
  readonly #header: Int32Array;
  readonly #key: Uint8Array;
  #seen = -1;
  #text = "";
  #crypticle: Crypticle | undefined;

  /** A view of a key that exists, or a new key. @param memory Another thread's; without it a new key is made. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(HEADER_BYTES + KEY_LENGTH);
    this.#header = new Int32Array(this.memory, 0, 2);
    this.#key = new Uint8Array(this.memory, HEADER_BYTES, KEY_LENGTH);
    if (memory === undefined) this.rotate();
  }

  /** Makes a new key and starts the serials again. One thread alone may do this: the master's main one. */
  rotate(): void {
    Atomics.add(this.#header, GENERATION, 1);
    this.#key.set(new TextEncoder().encode(generateKeyString()));
    Atomics.store(this.#header, SERIAL, 0);
    Atomics.add(this.#header, GENERATION, 1);
  }

  /** The key string in force, as sign-ins hand it out. */
  get text(): string {
    this.#refresh();
    return this.#text;
  }

  /** The key in force. */
  crypticle(): Crypticle {
    this.#refresh();
    this.#crypticle ??= new Crypticle(this.#text);
    return this.#crypticle;
  }

  /** The key for the next publish, and its serial under that key: 1, 2, …. */
  forPublish(): { crypticle: Crypticle; serial: number } {
    for (;;) {
      const crypticle = this.crypticle();
      const serial = Atomics.add(this.#header, SERIAL, 1) + 1;
      // A rotation in between would have begun its serials anew.
      if (Atomics.load(this.#header, GENERATION) === this.#seen) return { crypticle, serial };
    }
  }

  #refresh(): void {
    while (Atomics.load(this.#header, GENERATION) !== this.#seen) {
      const before = Atomics.load(this.#header, GENERATION);
      if (before % 2 === 1) continue; // being written, in another thread, for a few microseconds
      // Of one that another thread writes meanwhile the loop says: once more.
      this.#text = new TextDecoder().decode(this.#key.slice());
      this.#crypticle = undefined;
      this.#seen = before;
    }
  }
}
