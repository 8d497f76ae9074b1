import { testSituations } from "#tests/support/calls/state_situations.ts";

testSituations(["run", "tree", "test", "cmd", "environ", "module", "archive", "git", "ini"]);
