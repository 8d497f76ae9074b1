import { testSituations } from "../support/calls/state_situations.ts";

testSituations(["file"]);
