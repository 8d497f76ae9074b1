/** State module `pip`, compared with Python Salt's results: tests/corpus/state_runs/pip.json. */

import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "pip");
