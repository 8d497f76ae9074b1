/**
 * The thread of tests/sockets/supervised_thread_test.ts: echoes, and hangs on request, as if in a call of libzmq.
 * @module
 */

import { ThreadReplacedError } from "#lib/errors.ts";
import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";
import { Duplex, type SharedPlace } from "#lib/sockets/endpoint.ts";
import { serveThread } from "#lib/runtime/thread.ts";
import { withLease } from "#lib/runtime/thread_lease.ts";
import { countStep, heedStopWord } from "#lib/values/stop_word.ts";
import { noteSockets } from "#lib/sockets/context.ts";

/** The events of the threads; a thread records the index. */
export const SERVICE_EVENTS = ["nothing", "started", "hangs", "released", "refused", "touched", "computes"] as const;

/** The thread's start data. */
export interface KeptServiceInit extends SupervisedInit {
  /** The socket whose messages it echoes. */
  readonly place: SharedPlace;
  /** Int32: the events of all these threads, in order; the first number is their count. */
  readonly story: SharedArrayBuffer;
  /** Int32: the thread hangs until this is not 0. */
  readonly release: SharedArrayBuffer;
  /** The memory of its stop word. */
  readonly stop: SharedArrayBuffer;
}

serveThread<KeptServiceInit>((init) => {
  heedStopWord(init.stop);
  noteSockets(init.sockets);
  const story = new Int32Array(init.story);
  const say = (what: typeof SERVICE_EVENTS[number]) => {
    story[1 + Atomics.add(story, 0, 1)] = SERVICE_EVENTS.indexOf(what);
  };
  const socket = Duplex.inherited(init.place, { highWaterMark: 0 });
  const running = (async () => {
    for (let frames = await socket.receive(); frames !== undefined; frames = await socket.receive()) {
      await socket.send(frames);
    }
  })();
  const hang = () => {
    withLease(() => {
      say("hangs");
      Atomics.wait(new Int32Array(init.release), 0, 0);
      say("released");
    });
    try {
      socket.offer([new Uint8Array([0])]);
      say("touched");
    } catch (error) {
      if (!(error instanceof ThreadReplacedError)) throw error;
      say("refused");
    }
  };
  const compute = () => {
    say("computes");
    try {
      for (;;) countStep();
    } finally {
      say("released");
    }
  };
  say("started");
  return Promise.resolve({
    describe: () => "echoing",
    onMessage: (message) => message === "compute" ? compute() : hang(),
    async close() {
      socket.close();
      await running;
    },
  });
});
