/**
 * Lines of the states, of rendering, pillar, the file client and the runners that no test can reach.
 * @module
 */

import { type CoverageRule, RACE } from "./rule.ts";

/** See {@linkcode CoverageRule}. */
export const STATES_RULES: readonly CoverageRule[] = [
  { path: "lib/files/client/partial_file.ts", line: /^file\.close\(\);$/, why: RACE },
  { path: "lib/pillar/roots.ts", line: /--at\.left\.entries < 0/, why: "a directory with 200,000 files" },
  { path: "modules/pillar/file_tree.ts", line: /--left\.files < 0/, why: "a tree with 100,000 files" },
  {
    path: "modules/renderers/_gpg.ts",
    line: /^if \(late\.signal\.aborted\)/,
    why: "a gpg that does not answer for a minute",
  },
  {
    path: "modules/renderers/_gpg.ts",
    line: /error instanceof Deno\.errors\.NotFound/,
    why: "the program was there when its path was looked up",
  },
  { path: "modules/renderers/gpg.ts", line: /program === undefined/, why: "a host without gpg" },
];
