/**
 * The outputter of the runner `overview`, not in Salt: rows of maps as one table, its columns in the order of the maps'
 * keys, no wider than the terminal.
 * @module
 */

import { colours, sanitizeLine } from "#lib/text/terminal.ts";
import { isInt, isMap, str, type Value } from "#lib/values/value.ts";

/** Characters of a line in a pipe or a file. */
const PIPE_WIDTH = 110;
/** Characters that a column keeps when it is cut. */
const LEAST_WIDTH = 6;
const GAP = "  ";

/** Options of {@linkcode formatOverview}. */
export interface OverviewOptions {
  /** Whether to print in Salt's colours. */
  readonly color: boolean;
  /** The width of the terminal in characters. Default: that of a line in a pipe. */
  readonly columns?: number;
}

/**
 * Formats a list of maps with the same keys, without a final newline.
 * @returns `undefined` for other data.
 */
export function formatOverview(data: Value, { color, columns = PIPE_WIDTH }: OverviewOptions): string | undefined {
  if (!Array.isArray(data)) return undefined;
  const rows = data.filter(isMap);
  if (rows.length < data.length) return undefined;
  if (rows.length === 0) return "";
  const keys = [...rows[0].keys()];
  const cells = rows.map((row) => keys.map((key) => [...sanitizeLine(str(row.get(key) ?? ""))]));
  const table = [keys.map((key) => [...titleOf(str(key))]), ...cells];
  const widths = fitWidths(keys.map((_, i) => Math.max(...table.map((row) => row[i].length))), columns);
  const isNumber = keys.map((key) => rows.every((row) => isInt(row.get(key) ?? null)));
  const lines = table.map((row) => row.map((cell, i) => justify(cell, widths[i], isNumber[i])).join(GAP).trimEnd());
  const palette = colours(color);
  const [header, ...rest] = lines;
  return [`${palette.CYAN}${header}${palette.ENDC}`, widths.map((width) => "-".repeat(width)).join(GAP), ...rest].join(
    "\n",
  );
}

/** `last_job` as `Last job`. */
function titleOf(key: string): string {
  const words = sanitizeLine(key).replaceAll("_", " ");
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** The widths of columns that fit into a line: the widest ones are cut, but not the first one, which has ids. */
function fitWidths(widths: readonly number[], columns: number): number[] {
  const fitting = [...widths];
  const room = columns - GAP.length * (widths.length - 1);
  let excess = fitting.reduce((sum, width) => sum + width, 0) - room;
  for (; excess > 0; excess--) {
    const widest = fitting.lastIndexOf(Math.max(...fitting.slice(1)));
    if (widest < 1 || fitting[widest] <= LEAST_WIDTH) break;
    fitting[widest]--;
  }
  return fitting;
}

function justify(cell: readonly string[], width: number, toTheRight: boolean): string {
  const text = cell.length > width ? `${cell.slice(0, width - 1).join("")}…` : cell.join("");
  const blanks = " ".repeat(Math.max(0, width - cell.length));
  return toTheRight ? `${blanks}${text}` : `${text}${blanks}`;
}
