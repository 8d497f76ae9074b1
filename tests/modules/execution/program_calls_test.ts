/**
 * Functions return for the output of the host's programs what Python Salt returns, and they start the same programs.
 * @module
 */

import { testProgramCalls } from "#tests/support/calls/program_call_tests.ts";

testProgramCalls(new URL("../../corpus/program_calls/", import.meta.url));
testProgramCalls(new URL("../../corpus/own_program_calls/", import.meta.url));
