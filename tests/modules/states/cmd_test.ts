/** State module `cmd` against Python Salt's answers: tests/corpus/state_runs/cmd.json. */

import { testStateRuns } from "../../support/calls/state_runs.ts";

testStateRuns("cmd");
