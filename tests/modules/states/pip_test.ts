/** State module `pip`, compared with Python Salt's results: tests/corpus/state_runs/pip.json. */

import { testStateRuns } from "#tests/support/calls/state_runs.ts";

testStateRuns("pip");
