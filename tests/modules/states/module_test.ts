/** State module `module`, compared with Python Salt's results: tests/corpus/state_runs/module.json. */

import { testStateRuns } from "#tests/support/calls/state_runs.ts";

testStateRuns("module");
