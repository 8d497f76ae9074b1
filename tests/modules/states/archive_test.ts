/** State module `archive`, compared with Python Salt's results: tests/corpus/state_runs/archive.json. */

import { testStateRuns } from "#tests/support/calls/state_runs.ts";

testStateRuns("archive");
