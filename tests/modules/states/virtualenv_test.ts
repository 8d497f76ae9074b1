/** State module `virtualenv`, compared with Python Salt's results: tests/corpus/state_runs/virtualenv.json. */

import { testStateRuns } from "#tests/support/calls/state_runs.ts";

testStateRuns("virtualenv");
