import { testSituations } from "../support/state_situations.ts";

testSituations(["run", "tree", "test", "cmd", "environ", "module", "archive", "git", "ini"]);
