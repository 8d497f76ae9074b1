/**
 * Lines of the modules that no test can reach, or that the tool cannot see.
 * @module
 */

import { type CoverageRule, OTHER_SYSTEM } from "./rule.ts";

const CALLED_TEST = "Deno counts nothing of a file of this name; tests/modules has tests of it";

/** See {@linkcode CoverageRule}. */
export const MODULES_RULES: readonly CoverageRule[] = [
  { path: "modules/grains/os.ts", line: /macGrains/, why: OTHER_SYSTEM },
  { path: "modules/grains/core.ts", line: /MacOS/, why: OTHER_SYSTEM },
  ...["execution", "runners", "states"].map((family) => ({
    path: `modules/${family}/test.ts`,
    line: /./,
    why: CALLED_TEST,
  })),
];
