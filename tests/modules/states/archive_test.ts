/** State module `archive` against Python Salt's answers: tests/corpus/state_runs/archive.json. */

import { testStateRuns } from "../../support/calls/state_runs.ts";

testStateRuns("archive");
