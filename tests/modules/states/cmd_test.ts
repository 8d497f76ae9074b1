/** State module `cmd`, compared with Python Salt's results: tests/corpus/state_runs/cmd.json. */

import { testStateRuns } from "../../support/calls/state_runs.ts";

testStateRuns("cmd");
