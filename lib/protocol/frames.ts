/**
 * Frames messages on a byte stream: four bytes of length (big-endian), one byte for the sender, and the content.
 * Bounded: a frame that announces too great a length is refused before any of it is stored. Imports nothing, because a
 * process of a custom module loads it first.
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";

/** Who sends a frame: the process itself, in JSON (0), or the code that it runs, in MessagePack (1). */
export type FrameSender = 0 | 1;

/** Bytes before the content. */
const HEAD = 5;

/** One message. */
export interface WireFrame {
  readonly sender: number;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** Encodes a frame. */
export function frame(sender: FrameSender, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEAD + content.length);
  new DataView(bytes.buffer).setUint32(0, content.length);
  bytes[4] = sender;
  bytes.set(content, HEAD);
  return bytes;
}

/** Assembles frames from the pieces of a stream. */
export class FrameReader {
  readonly #max: number;
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Number of bytes needed before the next check. */
  #needed = HEAD;

  /** @param max Maximum bytes of a content. */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Adds a piece; returns the frames that are complete with it.
   * @throws {RangeError} For a frame that is too long.
   */
  push(piece: Uint8Array): WireFrame[] {
    this.#pieces.push(piece);
    this.#length += piece.length;
    const frames: WireFrame[] = [];
    while (this.#length >= this.#needed) {
      const whole = this.#joined();
      const size = new DataView(whole.buffer, whole.byteOffset).getUint32(0);
      if (size > this.#max) throw new RangeError(`a message of ${size} bytes, of at most ${this.#max}`);
      this.#needed = HEAD + size;
      if (this.#length < this.#needed) break;
      frames.push({ sender: whole[4], content: whole.slice(HEAD, HEAD + size) });
      this.#pieces = [whole.subarray(HEAD + size)];
      this.#length -= HEAD + size;
      this.#needed = HEAD;
    }
    return frames;
  }

  #joined(): Uint8Array {
    if (this.#pieces.length === 1) return this.#pieces[0];
    const whole = joinBytes(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }
}
