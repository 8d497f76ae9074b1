import { testSituations } from "#tests/support/calls/state_situations.ts";

testSituations("run");
testSituations("tree");
