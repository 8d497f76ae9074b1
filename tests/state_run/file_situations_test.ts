import { testSituations } from "../support/state_situations.ts";

testSituations(["file"], {
  "file.directory: recurse and clean": "Python Salt's list of what was removed has the order of a set",
  "file.recurse": "Python Salt's comment in test mode has the order of a set",
  "file.managed: links, binary content, encodings": "in test mode a file in another encoding is taken for a binary one",
});
