/**
 * Feeds a target in a worker and watches it: an input that hangs or ends the worker is a fault too.
 * @module
 */

import type { Tally } from "./engine.ts";
import { type FeedOrder, type FeedReport, watched, watchMemory } from "./feeder.ts";

/** Time after which an input counts as hanging, in milliseconds. */
const HANG_MS = 60_000;

/** Feeds a target in its own worker. Never throws: errors are in the tally. */
export async function feedWatched(order: Omit<FeedOrder, "memory">): Promise<Tally> {
  const started = performance.now();
  const memory = watchMemory();
  const worker = new Worker(new URL("./feeder.ts", import.meta.url), { type: "module" });
  const done = Promise.withResolvers<FeedReport>();
  let last = -1;
  let lastMs = started;
  const lost = (problem: string) => {
    const { index, input } = watched(memory);
    const tookMs = performance.now() - started;
    const fault = { problem, index, input };
    done.resolve({
      name: order.name,
      inputs: index,
      outcomes: {},
      slowestMs: tookMs,
      slow: [],
      faults: [fault],
      tookMs,
    });
  };
  const timer = setInterval(() => {
    const { index } = watched(memory);
    if (index !== last) [last, lastMs] = [index, performance.now()];
    else if (performance.now() - lastMs > HANG_MS) lost(`does not come back: ${HANG_MS} ms`);
  }, 500);
  worker.onmessage = ({ data }: MessageEvent<FeedReport>) => done.resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    lost(`not caught: ${event.message}`);
  };
  worker.postMessage({ ...order, memory });
  try {
    return await done.promise;
  } finally {
    clearInterval(timer);
    worker.terminate();
  }
}
