/** State module `virtualenv` against Python Salt's answers: tests/corpus/state_runs/virtualenv.json. */

import { testStateRuns } from "../../support/calls/state_runs.ts";

testStateRuns("virtualenv");
