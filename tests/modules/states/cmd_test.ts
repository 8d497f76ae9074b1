/** State module `cmd` against Python Salt's answers: tests/corpus/state_runs/cmd.json. */

import { testStateRuns } from "../../support/state_runs.ts";

testStateRuns("cmd");
