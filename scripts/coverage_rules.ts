/**
 * The lines of the product that `deno task coverage` cannot see, or that no test can reach, each with its reason.
 * @module
 */

import type { CoverageRule } from "./coverage_report.ts";

/** See {@linkcode CoverageRule}. */
export const COVERAGE_RULES: readonly CoverageRule[] = [];
