/**
 * Large events in pieces. libzmq bounds a subscriber's queue by messages, not by bytes: 20,000 results of 100 KB would
 * be 2 GB for each subscriber that does not read. So the bus publishes an event of more than {@linkcode PIECE_BYTES} as
 * several messages, and a subscriber joins them. Each begins with the event's tag, so that subscriptions select it like
 * any other.
 *
 * A piece: the tag, two newlines, 0xC1 (which msgpack never uses), the event's number, the piece's number and the
 * number of pieces (four bytes each, big-endian), and its share of the event.
 * @module
 */

import { tagEnd } from "./event.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

/** Size of a piece in bytes, unless an event would have too many of them. */
export const PIECE_BYTES = 4_096;

const NEWLINE = 0x0a;
const MARK = 0xc1;
const NUMBERS = 12;

/**
 * The messages of an event: the event itself if it is small, else its pieces.
 * @param max The greatest number of pieces; those of a larger event are longer.
 * @param number Distinguishes this event from the one before.
 */
export function* piecesOf(event: Uint8Array, { max, number }: { max: number; number: number }): Iterable<Uint8Array> {
  if (event.length <= PIECE_BYTES) return yield event;
  const end = tagEnd(event);
  if (end < 0) return yield event;
  const size = Math.max(PIECE_BYTES, Math.ceil(event.length / max));
  const count = Math.ceil(event.length / size);
  const head = end + 3;
  for (let i = 0; i < count; i++) {
    const share = event.subarray(i * size, (i + 1) * size);
    const piece = new Uint8Array(head + NUMBERS + share.length);
    piece.set(event.subarray(0, end));
    piece.set([NEWLINE, NEWLINE, MARK], end);
    const numbers = new DataView(piece.buffer, head, NUMBERS);
    [number >>> 0, i, count].forEach((value, at) => numbers.setUint32(at * 4, value));
    piece.set(share, head + NUMBERS);
    yield piece;
  }
}

/** Joins the pieces of one bus, which come in their order. An event of which a piece is missing is dropped. */
export class Pieces {
  #number = -1;
  #count = 0;
  #shares: Uint8Array[] = [];

  /** @returns The whole event, or `undefined` if more pieces belong to it, or one was missed. */
  join(message: Uint8Array): Uint8Array | undefined {
    const at = markOf(message);
    if (at < 0) return message;
    const numbers = new DataView(message.buffer, message.byteOffset + at + 1, NUMBERS);
    const [number, index, count] = [numbers.getUint32(0), numbers.getUint32(4), numbers.getUint32(8)];
    if (index === 0) [this.#number, this.#count, this.#shares] = [number, count, []];
    if (number !== this.#number || count !== this.#count || index !== this.#shares.length) {
      this.#forget();
      return undefined;
    }
    this.#shares.push(message.subarray(at + 1 + NUMBERS));
    if (this.#shares.length < count) return undefined;
    const event = joinBytes(this.#shares);
    this.#forget();
    return event;
  }

  #forget(): void {
    this.#number = -1;
    this.#shares = [];
  }
}

/** Where the mark of a piece is, or -1 if `message` is a whole event. */
function markOf(message: Uint8Array): number {
  const end = tagEnd(message);
  if (end < 0 || message[end + 2] !== MARK) return -1;
  return message.length > end + 2 + NUMBERS ? end + 2 : -1;
}
