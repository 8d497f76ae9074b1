/**
 * The state module `x509`, compared with Python Salt: tests/corpus/state_situations/x509.json, made by
 * make_state_situations.py.
 */

import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "x509");
