/**
 * The words that `--state-output` takes. Help and shell completion need no more.
 * @module
 */

/** How states are shown; with the suffix `_id` the ID is shown in place of the name. */
export const STATE_OUTPUT_MODES = [
  "full",
  "terse",
  "mixed",
  "changes",
  "filter",
  "full_id",
  "terse_id",
  "mixed_id",
  "changes_id",
  "filter_id",
] as const;
