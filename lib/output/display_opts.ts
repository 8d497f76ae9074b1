/**
 * The options of a configuration for outputters, in the form that outputters use.
 * @module
 */

import type { StateDisplay } from "./highstate.ts";
import type { TableLayout } from "./table.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

/** Salt's options of these names. */
export interface DisplayOpts {
  readonly state_output: string;
  readonly state_verbose: boolean;
  readonly state_output_diff: boolean;
  readonly state_output_profile: boolean;
  readonly state_output_pct: boolean;
  readonly state_output_max_lines: number;
  readonly state_compress_ids: boolean;
  /** A boolean, or a layout of Python's `str.format`. */
  readonly state_tabular: Value;
  /** A list, or texts separated by commas. */
  readonly state_output_exclude: Value;
  readonly state_output_terse: Value;
  readonly "out.table.has_header": boolean;
  readonly "out.table.row_delimiter": string;
  readonly "out.table.delim": string;
  readonly "out.table.justify": "center" | "left" | "right";
  readonly "out.table.separate_rows": boolean;
  readonly "out.table.prefix": string;
  readonly "out.table.suffix": string;
  readonly "out.table.width": number;
  readonly "out.table.nested_indent": number;
  readonly "out.table.rows_key": string | null;
  readonly "out.table.labels_key": string | null;
  readonly "out.table.title": string | null;
}

/**
 * How state runs are shown.
 * @param arg The arguments of the function that was called, as on the wire: `exclude=` and `terse=` replace the
 * options; `test=True` is test mode.
 */
export function stateDisplay(opts: DisplayOpts, arg: readonly Value[] = []): StateDisplay {
  const typed = arg.findLast((item) => isMap(item) && item.has("__kwarg__"));
  const words = (name: string, configured: Value) => wordsOf(isMap(typed) ? typed.get(name) ?? configured : configured);
  return {
    output: opts.state_output,
    verbose: opts.state_verbose,
    diff: opts.state_output_diff,
    profile: opts.state_output_profile,
    percentages: opts.state_output_pct,
    maxLines: opts.state_output_max_lines,
    compressIds: opts.state_compress_ids,
    tabular: typeof opts.state_tabular === "string" ? opts.state_tabular : opts.state_tabular === true,
    exclude: words("exclude", opts.state_output_exclude),
    terse: words("terse", opts.state_output_terse),
    test: isMap(typed) && typed.get("test") === true,
  };
}

function wordsOf(value: Value): string[] {
  if (Array.isArray(value)) return value.map(str);
  return value === null ? [] : str(value).split(",");
}

/** How tables are laid out. */
export function tableLayout(opts: DisplayOpts): TableLayout {
  return {
    hasHeader: opts["out.table.has_header"],
    rowDelimiter: opts["out.table.row_delimiter"],
    delim: opts["out.table.delim"],
    justify: opts["out.table.justify"],
    separateRows: opts["out.table.separate_rows"],
    prefix: opts["out.table.prefix"],
    suffix: opts["out.table.suffix"],
    width: opts["out.table.width"],
    indent: opts["out.table.nested_indent"],
    rowsKey: opts["out.table.rows_key"] ?? "",
    labelsKey: opts["out.table.labels_key"] ?? "",
    title: opts["out.table.title"] ?? "",
  };
}
