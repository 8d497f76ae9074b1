/** State module `module` against Python Salt's answers: tests/corpus/state_runs/module.json. */

import { testStateRuns } from "../../support/calls/state_runs.ts";

testStateRuns("module");
