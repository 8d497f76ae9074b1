/**
 * The lines of the product that `deno task coverage` cannot see, or that no test can reach, each with its reason.
 * @module
 */

import type { CoverageRule } from "./rules/rule.ts";
import { EVERYWHERE_RULES } from "./rules/everywhere.ts";
import { HOST_RULES } from "./rules/host.ts";
import { LANGUAGE_RULES } from "./rules/language.ts";
import { MODULES_RULES } from "./rules/modules.ts";
import { PROCESSES_RULES } from "./rules/processes.ts";
import { STATE_MODULES_RULES } from "./rules/state_modules.ts";
import { STATES_RULES } from "./rules/states.ts";
import { WIRE_RULES } from "./rules/wire.ts";

/** See {@linkcode CoverageRule}; the first rule that matches a line counts. */
export const COVERAGE_RULES: readonly CoverageRule[] = [
  ...EVERYWHERE_RULES,
  ...PROCESSES_RULES,
  ...HOST_RULES,
  ...LANGUAGE_RULES,
  ...MODULES_RULES,
  ...STATE_MODULES_RULES,
  ...STATES_RULES,
  ...WIRE_RULES,
];
