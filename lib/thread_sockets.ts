/**
 * The sockets of one thread: their context, and notes of where they are, for whoever outlives a thread that dies.
 *
 * Knows neither messages nor waits. Source: zmq_ctx_term(3); measured: Deno ends a worker without closing what libzmq holds.
 * @module
 */

import { IdleMemory } from "./idle_memory.ts";
import { trimMemory } from "./libc.ts";
import { closeLeft, type SocketKind, ZmqContext, ZmqSocket } from "./libzmq.ts";

/** What a thread with sockets works on comes and goes through them. */
export const socketMemory = new IdleMemory(trimMemory);
/** What a thread's start counts for, in bytes of messages. */
const START_UP = 1 << 20;

/** This isolate's sockets share a context, which ends with the last of them: what was sent is then on its way. */
let shared: ZmqContext | undefined;
let open = 0;
let maxSockets: number | undefined;

/** Lets this thread have `count` sockets, where libzmq's own limit is 1,023; to be called before the first is made. */
export function prepareManySockets(count: number): void {
  maxSockets = count;
}

/** Where in its notes a thread has its context, the socket that its successor goes on with, and from where on the others. */
const CONTEXT = 0, HEIRLOOM = 1, OTHERS = 2;
/** How many sockets a thread with a {@linkcode socketNotes} may have. */
const NOTES = 16;
/** Addresses of this thread's context and sockets, for whoever outlives it; 0 is none. */
let notes: BigUint64Array = new BigUint64Array(0);

/** Memory for the notes of one thread, and of those that take its place. */
export function socketNotes(): SharedArrayBuffer {
  return new SharedArrayBuffer(8 * (OTHERS + NOTES));
}

/**
 * Notes this thread's sockets in `memory` from now on. A thread that dies cannot close them, and what still is connected gets
 * messages that nobody reads: whoever outlives it closes them, with {@linkcode closeSocketsOf}.
 */
export function noteSockets(memory: SharedArrayBuffer): void {
  notes = new BigUint64Array(memory);
}

/**
 * Closes the sockets of a thread that has died, but for its {@linkcode openHeirloom heirloom}; to be called when it surely does nothing
 * any more.
 */
export function closeSocketsOf(memory: SharedArrayBuffer): void {
  const left = new BigUint64Array(memory);
  const sockets = [...left.subarray(OTHERS)].filter((address) => address !== 0n);
  left.fill(0n, OTHERS);
  const context = left[CONTEXT];
  left[CONTEXT] = 0n;
  closeLeft(context === 0n ? { sockets } : { sockets, context });
}

/** Whether a thread that has died, or does not end, has left sockets. */
export function hasSockets(memory: SharedArrayBuffer): boolean {
  return new BigUint64Array(memory).some((address) => address !== 0n);
}

/**
 * A new socket, counted and noted.
 * @param context Where another thread's context is in memory, if the socket is to be of that one; it must be closed before that ends.
 * @throws {SocketError} If there are too many.
 */
export function openSocket(kind: SocketKind, context?: bigint): ZmqSocket {
  const socket = (context === undefined ? ownContext() : ZmqContext.at(context)).socket(kind);
  open++;
  if (notes.length > 0) {
    const free = notes.indexOf(0n, OTHERS);
    if (free < 0) throw new RangeError(`A thread that notes its sockets has more than ${NOTES}`);
    notes[free] = socket.address;
  }
  return socket;
}

function ownContext(): ZmqContext {
  if (shared === undefined) {
    shared = ZmqContext.create(maxSockets);
    if (notes.length > 0) notes[CONTEXT] = shared.address;
    socketMemory.worked(START_UP); // which leaves garbage as well
  }
  return shared;
}

/**
 * The one socket of a thread that its successor goes on with: the one that the thread before this one has left, as it is, or a
 * new one. It is of another thread's context, by whose address it is found, and must be closed before that ends.
 */
export function openHeirloom(
  kind: SocketKind,
  context: bigint,
): { readonly socket: ZmqSocket; readonly inherited: boolean } {
  open++;
  const left = notes[HEIRLOOM];
  if (left) return { socket: ZmqSocket.at(left), inherited: true };
  const socket = ZmqContext.at(context).socket(kind);
  if (notes.length > 0) notes[HEIRLOOM] = socket.address;
  return { socket, inherited: false };
}

/** Closes a socket of {@linkcode openSocket} or {@linkcode openHeirloom}; with the last one the context ends. */
export function closeSocket(socket: ZmqSocket): void {
  const noted = notes.indexOf(socket.address, HEIRLOOM);
  if (noted > 0) notes[noted] = 0n;
  socket.close();
  open--;
  if (open > 0) return;
  notes.fill(0n);
  socketMemory.reset();
  shared?.terminate();
  shared = undefined;
}
