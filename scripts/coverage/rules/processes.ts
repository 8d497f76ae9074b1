/**
 * Lines of processes, threads, commands and sockets that no test can reach, or that the tool cannot see.
 * @module
 */

import { type CoverageRule, KILLED, NO_MEMORY } from "./rule.ts";

/** See {@linkcode CoverageRule}. */
export const PROCESSES_RULES: readonly CoverageRule[] = [
  { path: "lib/worker/module_worker.ts", line: /./, why: KILLED },
  { path: "lib/worker/module_pump.ts", line: /./, why: KILLED },
  { path: "lib/worker/grains_functions.ts", line: /./, why: KILLED },
  { path: "lib/worker/custom_catalogue.ts", line: /describeFunctions|setRetcode/, why: KILLED },
  { path: "lib/worker/custom_states.ts", line: /calledState|contextOf/, why: KILLED },
  { path: "lib/worker/job_runner.ts", line: /exactArguments|sendErrors/, why: KILLED },
  { path: "lib/sockets/libzmq.ts", line: /pointer === null/, why: NO_MEMORY },
];
