/**
 * Writes the figures as a Markdown table, for a terminal and for docs/performance.md.
 * @module
 */

import type { Machine } from "#tests/bench/harness/machine.ts";
import type { Unit } from "#tests/bench/rows/row.ts";
import { median } from "#tests/bench/harness/statistics.ts";

/** One row, measured. */
export interface Measured {
  readonly name: string;
  readonly title: string;
  /** The unit of the figures. */
  readonly unit: Unit;
  /** All figures of each side, by the side's name. */
  readonly figures: Readonly<Record<string, readonly number[]>>;
  /** Figures of the limit that no implementation can beat. */
  readonly limit: readonly number[];
  /** Reasons to doubt a figure. */
  readonly remarks: readonly string[];
  /** Why a side has no figure, or too few. */
  readonly failures: readonly string[];
}

export interface Report {
  /** The machine. */
  readonly machine: Machine;
  /** Names of the sides, ours first. */
  readonly sides: readonly string[];
  /** Why a side is missing. */
  readonly missing: readonly string[];
  /** Number of runs of a row, if the row or its cell sets none. */
  readonly runs: number;
  /** The duration of the whole run. */
  readonly seconds: number;
  /** The rows, in the order of their measurement. */
  readonly rows: readonly Measured[];
}

/** The report as Markdown. */
export function reportText({ machine, sides, missing, rows, runs, seconds }: Report): string {
  const { date, processor, processors, memoryGb, system, deno, libzmq, salt, loadBefore } = machine;
  const [ours, ...others] = sides;
  const head = ["row", "what", ...sides, ...others.map((name) => `${ours} : ${name}`), "bare sockets"];
  const table = rows.map((row) => [
    row.name,
    row.title,
    ...sides.map((side) => cell(row.figures[side], row.unit, runs)),
    ...others.map((side) => ratio(row, ours, side)),
    cell(row.limit, row.unit, runs),
  ]);
  const remarks = rows.flatMap(({ name, remarks, failures }) =>
    [...failures, ...remarks].map((remark) => `- ${name}: ${remark}\n`)
  );
  return [
    `${
      date.slice(0, 16).replace("T", " ")
    } UTC; ${processors} × ${processor}, ${memoryGb} GB, ${system}, ours ${salt}, Deno ${deno}, libzmq ${libzmq}; `,
    `load before: ${loadBefore.toFixed(2)}; ${Math.ceil(seconds / 60)} minutes. `,
    `Medians of ${runs === 1 ? "one run" : `${runs} alternating runs`}, with the smallest and the largest figure; `,
    "where there were more or fewer runs, the cell says how many.\n\n",
    markdown(head, table),
    ...missing.map((text) => `\n${text}\n`),
    ...remarks.length > 0 ? ["\n", ...remarks] : [],
  ].join("");
}

function cell(figures: readonly number[] | undefined, { name, digits }: Unit, runs: number): string {
  if (figures === undefined || figures.length === 0) return "–";
  const show = (figure: number) => figure.toFixed(digits);
  const middle = `${show(median(figures))} ${name}`;
  const range = figures.length === 1 ? [] : [`${show(Math.min(...figures))}–${show(Math.max(...figures))}`];
  const count = figures.length === runs ? [] : [figures.length === 1 ? "1 run" : `${figures.length} runs`];
  const spread = [...range, ...count].join("; ");
  return spread === "" ? middle : `${middle} (${spread})`;
}

/** How many times better ours is; there is no ratio for a value that became smaller. */
function ratio({ figures, unit }: Measured, ours: string, other: string): string {
  const a = median(figures[ours] ?? []);
  const b = median(figures[other] ?? []);
  const times = unit.lessIsBetter ? b / a : a / b;
  return Number.isFinite(times) && times > 0 ? `${times.toFixed(times < 10 ? 1 : 0)} ×` : "–";
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)));
  const line = (cells: readonly string[]) => `| ${cells.map((text, i) => text.padEnd(widths[i])).join(" | ")} |\n`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("");
}
