/**
 * Lines of the state modules that no test can reach.
 * @module
 */

import { type CoverageRule, UNEXPECTED } from "./rule.ts";

/** A program is looked for in the usual directories too, whatever PATH is. */
const NO_PROGRAM = "a host on which the program is not installed";

/** See {@linkcode CoverageRule}. */
export const STATE_MODULES_RULES: readonly CoverageRule[] = [
  { path: "modules/states/", line: /^if \(!isHostError\(error\)\) throw error;/, why: UNEXPECTED },
  {
    path: "modules/states/archive/extraction.ts",
    line: /^if \(which\("tar"\) === undefined\) throw/,
    why: NO_PROGRAM,
  },
  {
    path: "modules/states/file/patching.ts",
    line: /^if \(which\("patch"\) === undefined\) return/,
    why: NO_PROGRAM,
  },
];
