/**
 * The thread of `tests/runtime/thread_test.ts`: executes the requests of a test, including crashes.
 * @module
 */

import { serveThread, surviveErrors } from "#lib/runtime/thread.ts";

serveThread<{ readonly start?: "throw" | "hang"; readonly survive?: boolean; readonly close?: "hang" | "tell" }>(
  async (init, host) => {
    if (init.start === "throw") throw new Error("cannot start");
    if (init.start === "hang") await new Promise(() => {});
    if (init.survive) surviveErrors(host.log);
    host.log.info("started");
    return {
      describe: () => "doing what it is told",
      close: (budget) => {
        if (init.close === "tell") host.post(budget.leftMs);
        return init.close === "hang" ? new Promise(() => {}) : Promise.resolve();
      },
      onMessage(message) {
        switch (message) {
          case "reject":
            Promise.reject(new Error("nobody caught this"));
            break;
          case "throw later":
            setTimeout(() => {
              throw new Error("nor this");
            });
            break;
          case "fail":
            host.fail("it cannot go on");
            break;
          case "spin":
            for (;;);
        }
        host.post(`did ${message}`);
      },
    };
  },
);
