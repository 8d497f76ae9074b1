/**
 * A job worker whose job calls the function that its load names, and that dies when it gets new grains. No built-in
 * module does that.
 * @module
 */

import { pack, type ToJob, unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { serveThread } from "#lib/runtime/thread.ts";
import { isMap, str } from "#lib/values/value.ts";

serveThread<unknown>((_init, host) =>
  Promise.resolve({
    describe: () => "",
    onMessage: (given) => {
      const message = given as ToJob;
      if (message.kind === "host_data") throw new Error("out of the blue");
      if (message.kind !== "run") return;
      const load = unpackValue(message.load);
      const [fun = null] = isMap(load) ? [load.get("arg") ?? []].flat() : [];
      host.post({ kind: "ask", id: 1, request: { what: "call", fun: str(fun), call: pack({ args: [], kwargs: {} }) } });
    },
    close: () => Promise.resolve(),
  })
);
