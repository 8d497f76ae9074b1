import { testSituations } from "../support/state_situations.ts";

testSituations(["run", "test", "cmd", "environ", "module", "file", "ini", "archive", "git"]);
