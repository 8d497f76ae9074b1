/**
 * The mark of an event that comes from another master of a cluster: the name of that master and the number of the event
 * in its log, as the last two fields of the data. Whoever has the right to fire on the bus may set them; what minions
 * send is cleared of them.
 * @module
 */

import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { isMap, map, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { tagEnd } from "./event.ts";

/** Salt's name (3007) of the field with the master. */
const PEER_ID = "__peer_id";
/** The field with the number. Not in Salt. */
const PEER_SEQ = "__peer_seq";

/** Where an event comes from. */
export interface PeerMark {
  /** The name of the master. */
  readonly id: string;
  /** The number of the event in its log. */
  readonly seq: number;
}

/** The encoded second field, without its number. */
const SEQ_KEY = encode(PEER_SEQ, "disk");
/** MessagePack's mark of an integer of 64 bits, which is always used here so that its place is known. */
const UINT64 = 0xcf;
const SEQ_BYTES = 9;

/** The event with the mark in its data; `undefined` if it has no map of data. */
export function withPeerMark(frame: Uint8Array, { id, seq }: PeerMark): Uint8Array | undefined {
  const end = tagEnd(frame);
  const head = end < 0 ? undefined : longerHead(frame.subarray(end + 2));
  if (head === undefined) return undefined;
  const number = new Uint8Array(SEQ_BYTES);
  number[0] = UINT64;
  new DataView(number.buffer).setBigUint64(1, BigInt(seq));
  const field = encode(map({ [PEER_ID]: id }), "disk").subarray(1);
  return joinBytes([
    frame.subarray(0, end + 2),
    head.bytes,
    frame.subarray(end + 2 + head.replaces),
    field,
    SEQ_KEY,
    number,
  ]);
}

/** The head of a map in MessagePack with two more entries, and how many bytes it replaces. */
function longerHead(data: Uint8Array): { readonly bytes: Uint8Array; readonly replaces: number } | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength), [first = 0] = data;
  let size: number, replaces: number;
  if (first >= 0x80 && first <= 0x8f) [size, replaces] = [first - 0x80, 1];
  else if (first === 0xde && data.length >= 3) [size, replaces] = [view.getUint16(1), 3];
  else if (first === 0xdf && data.length >= 5) [size, replaces] = [view.getUint32(1), 5];
  else return undefined;
  const bytes = new Uint8Array(5);
  bytes[0] = 0xdf;
  new DataView(bytes.buffer).setUint32(1, size + 2);
  return { bytes, replaces };
}

/** The mark of an event; `undefined` of one of this master. */
export function peerMark(frame: Uint8Array): PeerMark | undefined {
  // Of most events nothing but the end is looked at.
  const at = frame.length - SEQ_BYTES - SEQ_KEY.length;
  if (at < 0 || frame[at + SEQ_KEY.length] !== UINT64) return undefined;
  if (!SEQ_KEY.every((byte, i) => frame[at + i] === byte)) return undefined;
  const data = decodeIfWhole(frame.subarray(tagEnd(frame) + 2));
  return isMap(data) ? peerMarkOf(data) : undefined;
}

/** The mark in the data of an event. */
export function peerMarkOf(data: ValueMap): PeerMark | undefined {
  const id = data.get(PEER_ID), seq = toNumber(data.get(PEER_SEQ));
  return typeof id === "string" && seq !== undefined ? { id, seq } : undefined;
}

/** The data without a mark: a minion cannot make an event that would count as another master's. */
export function withoutPeerMark(data: ValueMap): ValueMap {
  if (!data.has(PEER_ID) && !data.has(PEER_SEQ)) return data;
  return new Map<Value, Value>([...data].filter(([key]) => key !== PEER_ID && key !== PEER_SEQ));
}
