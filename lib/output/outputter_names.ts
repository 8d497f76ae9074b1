/**
 * The names that `--out` takes, in the order in which help lists them. Help and shell completion need no more.
 * @module
 */

/** The outputters' names. `text` is another name of `txt`. */
export const OUTPUTTER_NAMES = [
  "nested",
  "json",
  "yaml",
  "raw",
  "pprint",
  "txt",
  "text",
  "newline_values_only",
  "table",
  "highstate",
  "profile",
  "key",
  "no_return",
  "progress",
  "quiet",
] as const;

/** One of {@linkcode OUTPUTTER_NAMES}. */
export type OutputterName = typeof OUTPUTTER_NAMES[number];
