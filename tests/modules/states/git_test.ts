/** State module `git` against Python Salt's answers: tests/corpus/state_runs/git.json. */

import { testStateRuns } from "../../support/calls/state_runs.ts";

testStateRuns("git");
