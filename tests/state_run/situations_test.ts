import { testSituations } from "../support/calls/state_situations.ts";

testSituations(["run", "tree", "test", "cmd", "environ", "module", "archive", "git", "ini"]);
