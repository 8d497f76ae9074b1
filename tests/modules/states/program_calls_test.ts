/**
 * States whose modules use programs of the host return Python Salt's results, and start the same programs.
 * @module
 */

import { testProgramCalls } from "#tests/support/calls/program_call_tests.ts";

testProgramCalls(new URL("../../corpus/state_program_calls/", import.meta.url));
