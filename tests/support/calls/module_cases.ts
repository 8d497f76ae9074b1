/**
 * Registers the tests of all recorded cases of one module: each test file of a module calls it, so that the module's
 * name finds them. A corpus of one module alone is read by that module's test file itself.
 * @module
 */

import { testFileCalls } from "./file_calls.ts";
import { testModuleReturns } from "./module_returns.ts";
import { testProgramCalls } from "./program_call_tests.ts";
import { testScriptedPrograms } from "./scripted_programs.ts";
import { testStateAnswers } from "./state_answers.ts";
import { testStateResults } from "./state_result_tests.ts";
import { testStateRuns } from "./state_runs.ts";
import { testSituations } from "./state_situations.ts";

type Register = (module: string) => number;

/** The corpora with cases of execution modules, and of state modules. */
const CORPORA: Readonly<Record<"execution" | "states", readonly Register[]>> = {
  execution: [
    (module) => testProgramCalls("program_calls", module),
    (module) => testProgramCalls("own_program_calls", module),
    testScriptedPrograms,
    testModuleReturns,
    testFileCalls,
  ],
  states: [
    (module) => testProgramCalls("state_program_calls", module),
    testStateAnswers,
    testStateResults,
    testStateRuns,
    testSituations,
  ],
};

/**
 * Registers the tests of the recorded cases of an execution module, or of a state module.
 * @throws {Error} If there are none.
 */
export function testRecordedCases(family: keyof typeof CORPORA, module: string): void {
  const count = CORPORA[family].reduce((sum, register) => sum + register(module), 0);
  if (count === 0) throw new Error(`There is no recorded case of the module ${module} of ${family}`);
}
