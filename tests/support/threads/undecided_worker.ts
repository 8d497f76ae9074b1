/**
 * A job worker that refuses every job: its function declares other permissions than this worker has, each time others.
 * @module
 */

import type { JobWorkerInit, ToJob } from "#lib/minion/worker/job_protocol.ts";
import { serveThread } from "#lib/runtime/thread.ts";

serveThread<JobWorkerInit>(({ permissions }, host) =>
  Promise.resolve({
    describe: () => "",
    onMessage: (message) => {
      if ((message as ToJob).kind !== "run") return;
      host.post({ kind: "not_permitted", permissions: permissions === "none" ? { read: true } : "none" });
    },
    close: () => Promise.resolve(),
  })
);
