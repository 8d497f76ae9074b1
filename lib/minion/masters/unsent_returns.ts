/**
 * The returns of a minion without a master (`master_type: disable`): they are logged, and nothing is kept. What waits
 * on disk for a master, because it had one before, stays there.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

/** Takes the returns of jobs. */
export interface Returns {
  /** Keeps what the master of a job is to have: its return, or a piece of its output. */
  add(returned: ValueMap, job: ValueMap): void;
  /** The jobs whose returns are kept. */
  jids(): Set<string>;
}

/** Logs each return's outcome. */
export function unsentReturns(log: Logger): Returns {
  return {
    add: (load: ValueMap) => {
      const [fun, retcode] = ["fun", "retcode"].map((key) => str(load.get(key) ?? null));
      const text = `${fun} ended with return code ${retcode}; it is returned to no master`;
      if (load.get("success") === true) log.info(text);
      else log.error(text);
    },
    jids: () => new Set(),
  };
}
