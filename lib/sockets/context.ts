/**
 * The sockets of one thread: their libzmq context, and notes of their addresses in memory for the thread that cleans up
 * if this one dies. Knows neither messages nor waits.
 * Source: zmq_ctx_term(3); measured: Deno ends a worker without closing libzmq's objects.
 * @module
 */

import { IdleMemory } from "#lib/runtime/idle_memory.ts";
import { trimMemory } from "#lib/libc/libc.ts";
import { closeAbandoned, type SocketKind, ZmqContext, ZmqSocket } from "./libzmq.ts";
import { withLease } from "#lib/runtime/thread_lease.ts";
import { keepNotes, MAX_SOCKETS, ownNotes, ThreadNotes } from "#lib/runtime/thread_notes.ts";

/** Counts the work of a thread with sockets: all of it goes through them. */
export const socketMemory = new IdleMemory(trimMemory);
/** Bytes of messages that correspond to the garbage of a thread's start. */
const START_UP = 1 << 20;

/**
 * The context of this isolate's sockets. It is terminated with the last socket, after everything sent has been passed
 * on.
 */
let shared: ZmqContext | undefined;
let open = 0;

/**
 * Makes this thread note its sockets in `memory`. A dead thread cannot close them, and connected sockets would still
 * get messages that nobody reads; the thread that outlives it closes them with {@linkcode closeSocketsOf}.
 */
export function noteSockets(memory: SharedArrayBuffer): void {
  keepNotes(memory);
}

/**
 * Closes the sockets of a thread whose lease is revoked and free, also its {@linkcode openInherited inherited socket}
 * unless that was passed on.
 */
export function closeSocketsOf(notes: ThreadNotes): void {
  const sockets = [...notes.sockets, notes.inherited].filter((address) => address !== 0n);
  const { context } = notes;
  notes.sockets.fill(0n);
  notes.inherited = 0n;
  notes.context = 0n;
  closeAbandoned(context === 0n ? { sockets } : { sockets, context });
}

/**
 * Notes for the successor of a thread whose lease is revoked and free: the {@linkcode openInherited inherited socket}
 * is passed on.
 */
export function successorNotes(left: ThreadNotes): ThreadNotes {
  const notes = new ThreadNotes();
  notes.inherited = left.inherited;
  left.inherited = 0n;
  return notes;
}

/**
 * Makes a socket, counts it and notes it.
 * @param context Address of another thread's context in which to make the socket. Close it before that context ends.
 * @throws {SocketError} If there are too many sockets.
 */
export function openSocket(kind: SocketKind, context?: bigint): ZmqSocket {
  return withLease(() => {
    const notes = ownNotes();
    const free = notes?.sockets.indexOf(0n) ?? 0;
    if (free < 0) throw new RangeError(`A thread that notes its sockets has more than ${MAX_SOCKETS}`);
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
    socketMemory.worked(START_UP); // starting leaves garbage too
  }
  return shared;
}

/**
 * The one socket of a thread that its successor takes over: the existing one, in its current state, or a new one. It
 * belongs to another thread's context (given by address) and must be closed before that context ends.
 * @param prepare Sets up a new socket, so that no successor inherits an unfinished one.
 * @throws {unknown} What `prepare` throws.
 */
export function openInherited(kind: SocketKind, context: bigint, prepare: (made: ZmqSocket) => void): ZmqSocket {
  return withLease(() => {
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

/** Closes a socket of {@linkcode openSocket} or {@linkcode openInherited}. The last one terminates the context. */
export function closeSocket(socket: ZmqSocket): void {
  withLease(() => {
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
