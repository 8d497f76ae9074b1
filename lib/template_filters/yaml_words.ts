/**
 * Salt's words for what is wrong in a YAML text, as far as the place of the problem tells them.
 * Source: libyaml 0.2.5's messages (behaviour); Salt 3008.3, `salt/renderers/yaml.py`.
 * @module
 */

import type { YamlError } from "../errors.ts";

/** What libyaml says of the character at the place where reading stopped. */
const BY_CHARACTER: readonly (readonly [RegExp, string])[] = [
  [/^:/, "mapping values are not allowed in this context"],
  [/^[\t%@`]/, "found character that cannot start any token"],
  [/^-(?:\s|$)/, "block sequence entries are not allowed in this context"],
  [/^[\]}]/, "did not find expected node content"],
];

/** What it says where no character tells, by the beginning of the reader's own words. */
const BY_PROBLEM: readonly (readonly [beginning: string, words: string])[] = [
  ["nothing has the anchor", "found undefined alias"],
  ["tab characters", "found character that cannot start any token"],
  ["a tab cannot indent", "found character that cannot start any token"],
  ["unexpected end of the stream", "found unexpected end of stream"],
  ["unknown escape", "found unknown escape character"],
  ["name of an alias", "did not find expected alphabetic or numeric character"],
  ["missed comma", "did not find expected ',' or ']'"],
  ["bad indentation", "did not find expected key"],
  ["end of the stream", "did not find expected key"],
];

/** The problem in Salt's words; in the reader's own if they are not known. */
export function yamlWords(error: YamlError, text: string): string {
  if (error.salt !== undefined) return error.salt;
  const line = text.split(/\r\n?|\n/)[error.line - 1] ?? "";
  const rest = [...line].slice(error.column - 1).join("");
  const known = BY_PROBLEM.find(([beginning]) => error.problem.startsWith(beginning));
  const ambiguous = error.problem.startsWith("bad indentation") || error.problem.startsWith("end of the stream");
  const character = ambiguous ? BY_CHARACTER.find(([at]) => at.test(rest)) : undefined;
  return character?.[1] ?? known?.[1] ?? error.problem;
}
