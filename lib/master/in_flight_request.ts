/**
 * Whose request an MWorker is working on, in shared memory, so that it outlives the thread.
 *
 * Noted in the turn in which the request is taken, and cleared in that in which the answer goes: so of any request, this note and
 * the socket say the same to the thread that comes after.
 * @module
 */

import type { Frames } from "../sockets/endpoint.ts";

/** Room for the routing frames; a client's identity has at most 255 bytes. */
const BYTES = 2_048;
/** Int32: how many bytes are noted; 0 is nothing. Then, for each frame, its length (2 bytes) and itself. */
const HEADER = 4;

/** How many requests an MWorker may have in its hands under `durability: machine`. */
export const MOST_HELD = 64;

/** Memory for one MWorker. @param requests How many it may have in its hands. */
export function heldMemory(requests = 1): SharedArrayBuffer {
  return new SharedArrayBuffer(requests * BYTES);
}

/** The notes in one worker's memory: as many as it may have requests in its hands. */
export function heldRequests(memory: SharedArrayBuffer): InFlightRequest[] {
  return Array.from({ length: memory.byteLength / BYTES }, (_, i) => new InFlightRequest(memory, i));
}

/** The note, as one thread sees it. */
export class InFlightRequest {
  readonly #length: Int32Array;
  readonly #bytes: Uint8Array;

  /** Looks at one worker's memory. @param memory From {@linkcode heldMemory}. @param index Which of its notes. */
  constructor(memory: SharedArrayBuffer, index = 0) {
    this.#length = new Int32Array(memory, index * BYTES, 1);
    this.#bytes = new Uint8Array(memory, index * BYTES + HEADER, BYTES - HEADER);
  }

  /** Notes the way back to whoever asked. */
  note(route: Frames): void {
    this.clear();
    let at = 0;
    for (const frame of route) {
      if (at + 2 + frame.length > this.#bytes.length) return; // a route like that is nobody's whom we owe an answer
      this.#bytes[at] = frame.length >> 8;
      this.#bytes[at + 1] = frame.length & 0xff;
      this.#bytes.set(frame, at + 2);
      at += 2 + frame.length;
    }
    Atomics.store(this.#length, 0, at);
  }

  /** Forgets it: the answer is on its way. */
  clear(): void {
    Atomics.store(this.#length, 0, 0);
  }

  /** The way back that is noted and not cleared: in a new thread, of a request that the one before it died of. */
  get route(): Frames | undefined {
    const length = Atomics.load(this.#length, 0);
    if (length === 0) return undefined;
    const route: Frames = [];
    for (let at = 0; at < length;) {
      const size = this.#bytes[at] * 256 + this.#bytes[at + 1];
      route.push(this.#bytes.slice(at + 2, at + 2 + size));
      at += 2 + size;
    }
    return route;
  }
}
