/**
 * Allows more sockets in one thread than libzmq's 1,023, for simulated minions; the product has a few in each thread.
 * Source: zmq_ctx_set(3), ZMQ_MAX_SOCKETS.
 * @module
 */

import { ZmqContext } from "#lib/sockets/libzmq.ts";

const ZMQ_MAX_SOCKETS = 2;
const SYMBOLS = { zmq_ctx_set: { parameters: ["pointer", "i32", "i32"], result: "i32" } } as const;

/** Allows `count` sockets in this thread. Must be called before the first one is made. */
export function prepareManySockets(count: number): void {
  const create = ZmqContext.create;
  ZmqContext.create = () => {
    const context = create();
    const { symbols } = Deno.dlopen(loadedLibrary(), SYMBOLS); // the library is loaded already, and stays loaded
    if (symbols.zmq_ctx_set(Deno.UnsafePointer.create(context.address), ZMQ_MAX_SOCKETS, count) !== 0) {
      throw new RangeError(`libzmq refuses ${count} sockets`);
    }
    return context;
  };
}

/** The path of the libzmq that this process has loaded. */
function loadedLibrary(): string {
  const path = /\S*\/zeromq\S*\.node$/m.exec(Deno.readTextFileSync("/proc/self/maps"))?.[0];
  if (path === undefined) throw new Error("no libzmq is loaded");
  return path;
}
