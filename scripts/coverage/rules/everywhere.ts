/**
 * Lines of any file that no test can reach.
 * @module
 */

import { type CoverageRule, OTHER_SYSTEM, UNEXPECTED } from "./rule.ts";

/** See {@linkcode CoverageRule}. */
export const EVERYWHERE_RULES: readonly CoverageRule[] = [
  { line: /^throw (error|cause);$/, why: UNEXPECTED },
  { line: /^if \(!?\(?error instanceof .*\) throw error;/, why: UNEXPECTED },
  { line: /^if \(!\w+\) throw error;/, why: UNEXPECTED },
  { line: /Deno\.build\.os !== "linux"/, why: OTHER_SYSTEM },
];
