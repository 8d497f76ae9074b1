/**
 * The lines of the product that `deno task coverage` cannot see, or that no test can reach, each with its reason.
 * @module
 */

import type { CoverageRule } from "#scripts/coverage/rules/rule.ts";
import { EVERYWHERE_RULES } from "#scripts/coverage/rules/everywhere.ts";
import { HOST_RULES } from "#scripts/coverage/rules/host.ts";
import { LANGUAGE_RULES } from "#scripts/coverage/rules/language.ts";
import { MODULES_RULES } from "#scripts/coverage/rules/modules.ts";
import { PROCESSES_RULES } from "#scripts/coverage/rules/processes.ts";
import { STATE_MODULES_RULES } from "#scripts/coverage/rules/state_modules.ts";
import { STATES_RULES } from "#scripts/coverage/rules/states.ts";
import { WIRE_RULES } from "#scripts/coverage/rules/wire.ts";

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
