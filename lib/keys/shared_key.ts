/**
 * The key that encrypts every publish, shared by all threads of the master and new at every start. It is in shared
 * memory: after Maintenance has rotated it, every MWorker and the Publisher use the new key for their next message, so
 * that no minion gets the old key while a job is encrypted with the new one. Never on disk.
 * @module
 */

import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";

/** Length of a key string, in bytes of ASCII. */
const KEY_LENGTH = 76;
/** The current key, the one before it, and the next one. */
const KEYS = 3;
/** Two Int32: the generation (odd while the key is being written), and the last serial. */
const HEADER_BYTES = 8;
const GENERATION = 0;
const SERIAL = 1;

/** One thread's view of the shared key. */
export class SharedKey {
  /** Other threads make their own view of it. */
  readonly memory: SharedArrayBuffer;
  readonly #header: Int32Array;
  readonly #key: Uint8Array;
  #seen = -1;
  #text = "";
  #former = "";
  #next = "";
  #crypticle: Crypticle | undefined;

  /** @param memory The memory of another thread's view; without it a new key is made. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(HEADER_BYTES + KEYS * KEY_LENGTH);
    this.#header = new Int32Array(this.memory, 0, 2);
    this.#key = new Uint8Array(this.memory, HEADER_BYTES, KEYS * KEY_LENGTH);
    if (memory === undefined) this.rotate();
  }

  /** Makes the key of the next {@linkcode rotate}, which minions may ask for until then. */
  announce(): void {
    this.#write({ text: this.text, former: this.#former, next: generateKeyString() });
  }

  /**
   * Takes the announced key, or a new one, and restarts the serials. Only one thread may change the key: the master's
   * main thread.
   */
  rotate(): void {
    const next = this.next;
    this.#write({ text: next === "" ? generateKeyString() : next, former: "", next: "" });
  }

  /**
   * Takes a key that another master of the cluster has made; the one before it still counts for requests. Only one
   * thread may change the key: in a cluster the Cluster thread.
   */
  set(text: string): void {
    this.#write({ text, former: this.text, next: "" });
  }

  #write({ text, former, next }: { readonly text: string; readonly former: string; readonly next: string }): void {
    const isNew = text !== this.#text;
    Atomics.add(this.#header, GENERATION, 1);
    this.#key.set(new TextEncoder().encode([text, former, next].map((key) => key.padEnd(KEY_LENGTH, "\0")).join("")));
    if (isNew) Atomics.store(this.#header, SERIAL, 0);
    Atomics.add(this.#header, GENERATION, 1);
  }

  /** The current key string, as given at sign-in. */
  get text(): string {
    this.#refresh();
    return this.#text;
  }

  /** The announced key string; empty if there is none. */
  get next(): string {
    this.#refresh();
    return this.#next;
  }

  /** Number of changes of the keys, with the first. */
  get generation(): number {
    this.#refresh();
    return this.#seen / 2;
  }

  /** The current key. */
  crypticle(): Crypticle {
    this.#refresh();
    this.#crypticle ??= new Crypticle(this.#text);
    return this.#crypticle;
  }

  /** The keys that a request may be encrypted with: the current one, and in a cluster the one before it. */
  crypticles(): Crypticle[] {
    const now = this.crypticle();
    return this.#former === "" ? [now] : [now, new Crypticle(this.#former)];
  }

  /** The key for the next publish, and its serial under that key: 1, 2, …. */
  forPublish(): { crypticle: Crypticle; serial: number } {
    for (;;) {
      const crypticle = this.crypticle();
      const serial = Atomics.add(this.#header, SERIAL, 1) + 1;
      // A rotation in between would have restarted the serials.
      if (Atomics.load(this.#header, GENERATION) === this.#seen) return { crypticle, serial };
    }
  }

  #refresh(): void {
    while (Atomics.load(this.#header, GENERATION) !== this.#seen) {
      const before = Atomics.load(this.#header, GENERATION);
      if (before % 2 === 1) continue; // another thread is writing, for a few microseconds
      // If another thread writes meanwhile, the loop repeats.
      const keys = new TextDecoder().decode(this.#key.slice());
      [this.#text, this.#former, this.#next] = [0, 1, 2].map((i) =>
        keys.slice(i * KEY_LENGTH, (i + 1) * KEY_LENGTH).replace(/\0+$/, "")
      );
      this.#crypticle = undefined;
      this.#seen = before;
    }
  }
}
