/** State module `git`, compared with Python Salt's results: tests/corpus/state_runs/git.json. */

import { testStateRuns } from "#tests/support/calls/state_runs.ts";

testStateRuns("git");
