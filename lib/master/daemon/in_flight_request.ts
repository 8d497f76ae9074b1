/**
 * The client whose request an MWorker is processing, in shared memory, so that it outlives the thread. It is noted in
 * the turn in which the request is received, and cleared in the turn in which the answer is sent; so for every request
 * the note and the socket agree when the next thread takes over.
 * @module
 */

import type { Frames } from "#lib/sockets/libzmq.ts";

/** Maximum bytes of the routing frames; a client's identity has at most 255. */
const BYTES = 2_048;
/** An Int32: number of noted bytes; 0: none. Then each frame: its length (2 bytes) and its bytes. */
const HEADER = 4;

/**
 * Maximum number of requests in one MWorker. Most of them may be requests for pillars: with the default of five
 * MWorkers a thousand may wait, and other requests do not wait for them.
 */
export const MAX_IN_FLIGHT = 256;

/**
 * Memory for one MWorker.
 * @param requests Maximum number of requests in it.
 */
export function inFlightMemory(requests = 1): SharedArrayBuffer {
  return new SharedArrayBuffer(requests * BYTES);
}

/** The notes in one worker's memory, one per possible request. */
export function inFlightRequests(memory: SharedArrayBuffer): InFlightRequest[] {
  return Array.from({ length: memory.byteLength / BYTES }, (_, i) => new InFlightRequest(memory, i));
}

/** The note of one request, as one thread sees it. */
export class InFlightRequest {
  readonly #length: Int32Array;
  readonly #bytes: Uint8Array;

  /**
   * @param memory From {@linkcode inFlightMemory}.
   * @param index The number of the note.
   */
  constructor(memory: SharedArrayBuffer, index = 0) {
    this.#length = new Int32Array(memory, index * BYTES, 1);
    this.#bytes = new Uint8Array(memory, index * BYTES + HEADER, BYTES - HEADER);
  }

  /** Notes the route to the client. */
  note(route: Frames): void {
    this.clear();
    let at = 0;
    for (const frame of route) {
      if (at + 2 + frame.length > this.#bytes.length) return; // no client of ours has such a route
      this.#bytes[at] = frame.length >> 8;
      this.#bytes[at + 1] = frame.length & 0xff;
      this.#bytes.set(frame, at + 2);
      at += 2 + frame.length;
    }
    Atomics.store(this.#length, 0, at);
  }

  /** Clears the note: the answer has been sent. */
  clear(): void {
    Atomics.store(this.#length, 0, 0);
  }

  /** The noted route; in a new thread that of the request during which the old thread died. */
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
