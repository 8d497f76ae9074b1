/**
 * The options about what outputters show, of master and minion: the first role's are for `salt` and `salt-run`, the
 * second's for `salt-call`.
 * @module
 */

import { STATE_OUTPUT_MODES } from "#lib/output/state_output_modes.ts";
import { anyOption, boolOption, choiceOption, intOption, type Option, strOption } from "./option_types.ts";

/** Where text is in a cell of a table. */
const JUSTIFICATIONS = ["center", "left", "right"] as const;

/** How state runs and tables are shown. */
export const DISPLAY_OPTIONS = {
  state_output: choiceOption<typeof STATE_OUTPUT_MODES[number], typeof STATE_OUTPUT_MODES[number]>(
    "full",
    "How states are shown: `full`; `terse`, a line each; `mixed`, full where one failed; `changes`, full where one failed or " +
      "changed something; `filter`, see `state_output_exclude`. With the suffix `_id` (`terse_id`) the ID is shown in place of the name.",
    STATE_OUTPUT_MODES,
    { isLenient: true },
  ),
  state_verbose: boolOption(true, "Whether states that succeeded and changed nothing are shown."),
  state_output_diff: boolOption(false, "Whether only states that changed something, or failed, are shown."),
  state_output_profile: boolOption(true, "Whether the start and the duration of states are shown."),
  state_output_pct: boolOption(false, "Whether the summary of a state run has percentages."),
  state_output_exclude: anyOption(
    [],
    "Results (`True`, `False`, `None`) of states that `state_output: filter` leaves out; a list, or text with commas. `exclude=` of a call replaces it.",
  ),
  state_output_terse: anyOption(
    [],
    "Results of states that `state_output: filter` shows in one line. `terse=` of a call replaces it.",
  ),
  state_tabular: anyOption(
    false,
    "Whether states of a line each are aligned; or the layout of a line for Python's `str.format`: {1} name, {2} state, {3} function, {4} result, " +
      "{6} all fields, between {0} and {5} the colour.",
  ),
  state_output_max_lines: intOption(
    0,
    "How many lines of a text among the changes of a state are shown, such as a diff or what a command wrote; the rest is counted. 0: all. Not in Salt.",
    { min: 0 },
  ),
  state_compress_ids: boolOption(false, "Whether states of one ID with the same result are shown together."),
  "out.table.has_header": boolOption(true, "Tables: whether the first row names the columns."),
  "out.table.row_delimiter": strOption("-", "Tables: the character of lines between rows."),
  "out.table.delim": strOption(" | ", "Tables: the separator of columns."),
  "out.table.justify": choiceOption("center", "Tables: the alignment of text in a cell.", JUSTIFICATIONS),
  "out.table.separate_rows": boolOption(true, "Tables: whether there are lines between rows."),
  "out.table.prefix": strOption("| ", "Tables: the beginning of a row."),
  "out.table.suffix": strOption(" |", "Tables: the end of a row."),
  "out.table.width": intOption(50, "Tables: characters after which a cell goes on in the next line.", { min: 1 }),
  "out.table.nested_indent": intOption(0, "Tables: their indentation, in columns.", { min: 0, max: 1000 }),
  "out.table.rows_key": strOption(null, "Tables: shows only the rows under this key."),
  "out.table.labels_key": strOption(null, "Tables: the key with the names of columns."),
  "out.table.title": strOption(null, "Tables: the text above the rows of `out.table.rows_key`."),
} as const satisfies Readonly<Record<string, Option>>;
