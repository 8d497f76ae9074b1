/**
 * Lines that no test can reach, in code for files, data, pillar and the language of states.
 * @module
 */

import { type CoverageRule, KILLED } from "./rule.ts";

/** See {@linkcode CoverageRule}. */
export const LANGUAGE_RULES: readonly CoverageRule[] = [
  {
    path: "lib/values/dict.ts",
    line: /\bknown\b.*return false;|=== undefined\) return false;/,
    why: "two keys of one hash, which is a secret",
  },
  { path: "lib/yaml/nodes.ts", line: /the parser lost its way/, why: "events that no parser gives" },
  { path: "lib/render/own_renderer.ts", line: /calledRenderer/, why: KILLED },
];
