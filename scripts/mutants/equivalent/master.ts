/**
 * Equivalent mutants of lib/master.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const MASTER: readonly EquivalentMutant[] = [
  {
    file: "lib/master/functions/processes.ts",
    code: "if (await budget.allows(Promise.all(this.#serving))) return;",
    change: "return; → {}",
    why: "all processes have ended: there is none to kill",
  },
  {
    file: "lib/master/functions/processes.ts",
    code: "if (this.#closed || this.#running[kind].size >= this.#bounds[kind].running) return;",
    change:
      "this.#closed || this.#running[kind].size >= this.#bounds[kind].running → this.#running[kind].size >= this.#bounds[kind].running",
    why: "nothing waits after close",
  },
  {
    file: "lib/master/publisher/delivery.ts",
    code: "const ASKED_JOBS = 500;",
    change: "500 → 501",
    why: "the number of jobs of one question",
  },
];
