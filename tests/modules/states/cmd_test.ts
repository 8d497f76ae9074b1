/** State module `cmd`, compared with Python Salt's results: tests/corpus/state_runs/cmd.json. */

import { testStateRuns } from "#tests/support/calls/state_runs.ts";

testStateRuns("cmd");
