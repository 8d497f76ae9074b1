/**
 * A job worker whose job waits for ever, or computes without yielding for a given time. No built-in module does either.
 * @module
 */

import { type ToJob, unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { serveThread } from "#lib/runtime/thread.ts";
import { isMap } from "#lib/values/value.ts";

function run(message: ToJob): void {
  if (message.kind !== "run") return;
  const load = unpackValue(message.load);
  const [ms = 0] = isMap(load) ? [load.get("arg") ?? []].flat() : [];
  const end = performance.now() + Number(ms);
  while (performance.now() < end);
}

serveThread<unknown>(() =>
  Promise.resolve({
    describe: () => "",
    onMessage: (message) => run(message as ToJob),
    close: () => Promise.resolve(),
  })
);
