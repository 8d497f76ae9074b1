/** State module `virtualenv` against Python Salt's answers: tests/corpus/state_runs/virtualenv.json. */

import { testStateRuns } from "../../support/state_runs.ts";

testStateRuns("virtualenv");
