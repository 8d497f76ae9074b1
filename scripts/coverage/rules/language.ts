/**
 * Lines that no test can reach, in code for files, data, pillar and the language of states.
 * @module
 */

import { ALWAYS_THERE, type CoverageRule, KILLED } from "./rule.ts";

/** See {@linkcode CoverageRule}. */
export const LANGUAGE_RULES: readonly CoverageRule[] = [
  {
    path: "lib/values/dict.ts",
    line: /\bknown\b.*return false;|=== undefined\) return false;/,
    why: "two keys of one hash, which is a secret",
  },
  { path: "lib/yaml/nodes.ts", line: /the parser lost its way/, why: "events that no parser gives" },
  { path: "lib/jinja/core/compile_assign.ts", line: /^if \(value === undefined\) continue;/, why: ALWAYS_THERE },
  { path: "lib/jinja/core/compile_calls.ts", line: /"a filter has no value"/, why: ALWAYS_THERE },
  {
    path: "lib/jinja/core/compile_expressions.ts",
    line: /^return constant\(node\.data\);/,
    why: "text is compiled by the statement that writes it; the types allow it in any expression",
  },
  {
    path: "lib/jinja/core/scope.ts",
    line: /was not found in the analysis|A variable of another template's function was/,
    why: "the analysis finds each name of its template; the types cannot say so",
  },
  {
    path: "lib/regex/reader.ts",
    line: /^return this\.#fail\(messageOf\(error\)\);/,
    why: "the reader writes only sets that the engine takes",
  },
  {
    path: "lib/jinja/salt/template_errors.ts",
    line: /^if \(frame === undefined\) return new RenderError/,
    why: "a fault of the renderer itself: an error of a template names a line",
  },
  { path: "lib/render/own_renderer.ts", line: /calledRenderer/, why: KILLED },
];
