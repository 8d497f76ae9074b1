/** State module `module`, compared with Python Salt's results: tests/corpus/state_runs/module.json. */

import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "module");
