import { testSituations } from "../support/state_situations.ts";

testSituations(["run", "tree", "test", "cmd", "environ", "module", "archive", "git", "ini"], {
  "git.present, detached, config": "Python Salt's config_unset ends with a stack trace where there is no other value",
  "ini.sections": "Python Salt's sections_present ends with a stack trace where a section is new",
});
