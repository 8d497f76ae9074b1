/** State module `pip` against Python Salt's answers: tests/corpus/state_runs/pip.json. */

import { testStateRuns } from "../../support/calls/state_runs.ts";

testStateRuns("pip");
