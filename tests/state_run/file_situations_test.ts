import { testSituations } from "../support/state_situations.ts";

testSituations(["file"]);
