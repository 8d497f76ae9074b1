/**
 * The sockets of one thread: their context, and notes of where they are, for whoever outlives a thread that dies.
 *
 * Knows neither messages nor waits. Source: zmq_ctx_term(3); measured: Deno ends a worker without closing what libzmq holds.
 * @module
 */

import { IdleMemory } from "../process/idle_memory.ts";
import { trimMemory } from "../os/libc.ts";
import { closeLeft, type SocketKind, ZmqContext, ZmqSocket } from "./libzmq.ts";
import { leased } from "../process/thread_lease.ts";
import { keepNotes, MOST_SOCKETS, ownNotes, ThreadNotes } from "../process/thread_notes.ts";

/** What a thread with sockets works on comes and goes through them. */
export const socketMemory = new IdleMemory(trimMemory);
/** What a thread's start counts for, in bytes of messages. */
const START_UP = 1 << 20;

/** This isolate's sockets share a context, which ends with the last of them: what was sent is then on its way. */
let shared: ZmqContext | undefined;
let open = 0;

/**
 * Notes this thread's sockets in `memory` from now on. A thread that dies cannot close them, and what still is connected gets
 * messages that nobody reads: whoever outlives it closes them, with {@linkcode closeSocketsOf}.
 */
export function noteSockets(memory: SharedArrayBuffer): void {
  keepNotes(memory);
}

/** Closes what a thread has left whose lease is revoked and free; its {@linkcode openInherited inherited socket} too, if that was not handed on. */
export function closeSocketsOf(notes: ThreadNotes): void {
  const sockets = [...notes.sockets, notes.inherited].filter((address) => address !== 0n);
  const { context } = notes;
  notes.sockets.fill(0n);
  notes.inherited = 0n;
  notes.context = 0n;
  closeLeft(context === 0n ? { sockets } : { sockets, context });
}

/** Notes for the thread after one whose lease is revoked and free: the {@linkcode openInherited inherited socket} is handed on. */
export function successorNotes(left: ThreadNotes): ThreadNotes {
  const notes = new ThreadNotes();
  notes.inherited = left.inherited;
  left.inherited = 0n;
  return notes;
}

/**
 * A new socket, counted and noted.
 * @param context Where another thread's context is in memory, if the socket is to be of that one; it must be closed before that ends.
 * @throws {SocketError} If there are too many.
 */
export function openSocket(kind: SocketKind, context?: bigint): ZmqSocket {
  return leased(() => {
    const notes = ownNotes();
    const free = notes?.sockets.indexOf(0n) ?? 0;
    if (free < 0) throw new RangeError(`A thread that notes its sockets has more than ${MOST_SOCKETS}`);
    const socket = (context === undefined ? ownContext() : ZmqContext.at(context)).socket(kind);
    open++;
    if (notes !== undefined) notes.sockets[free] = socket.address;
    return socket;
  });
}

function ownContext(): ZmqContext {
  if (shared === undefined) {
    shared = ZmqContext.create();
    const notes = ownNotes();
    if (notes !== undefined) notes.context = shared.address;
    socketMemory.worked(START_UP); // which leaves garbage as well
  }
  return shared;
}

/**
 * The one socket of a thread that its successor goes on with: the one that the thread before this one has left, as it is, or a
 * new one. It is of another thread's context, by whose address it is found, and must be closed before that ends.
 * @param prepare Has a new one do what it is for: nobody inherits one that is half made.
 * @throws {unknown} What `prepare` throws.
 */
export function openInherited(kind: SocketKind, context: bigint, prepare: (made: ZmqSocket) => void): ZmqSocket {
  return leased(() => {
    const notes = ownNotes();
    if (notes?.inherited) {
      open++;
      return ZmqSocket.at(notes.inherited);
    }
    const socket = ZmqContext.at(context).socket(kind);
    try {
      prepare(socket);
    } catch (error) {
      socket.close();
      throw error;
    }
    open++;
    if (notes !== undefined) notes.inherited = socket.address;
    return socket;
  });
}

/** Closes a socket of {@linkcode openSocket} or {@linkcode openInherited}; with the last one the context ends. */
export function closeSocket(socket: ZmqSocket): void {
  leased(() => {
    const notes = ownNotes();
    if (notes?.inherited === socket.address) notes.inherited = 0n;
    const noted = notes?.sockets.indexOf(socket.address) ?? -1;
    if (notes !== undefined && noted >= 0) notes.sockets[noted] = 0n;
    socket.close();
    open--;
    if (open > 0) return;
    if (notes !== undefined) notes.context = 0n;
    socketMemory.reset();
    shared?.terminate();
    shared = undefined;
  });
}
