/**
 * Measures one row on all sides in turn, so that other load on the machine affects all of them.
 *
 * A failure is recorded, and only its own figure is missing.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { Measured } from "./report.ts";
import type { Row, Stage } from "#tests/bench/rows/row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";

/** No further run of a row begins after this time, in milliseconds: one slow side must not block the benchmark. */
const ROW_MS = 180_000;

/** Options for the measurement of a row. */
export interface Conditions {
  /** The fleets of the row's group. */
  readonly stage: Stage;
  readonly sides: readonly Side[];
  /** Number of runs, if the row sets none. */
  readonly runs: number;
  /** Called with the current measurement and with its result. */
  progress(text: string): void;
}

/** Measures a row. */
export async function measure(row: Row, { stage, sides, runs, progress }: Conditions): Promise<Measured> {
  const figures: Record<string, number[]> = Object.fromEntries(sides.map(({ name }) => [name, []]));
  const limit: number[] = [];
  const failures = new Map<string, string>();
  const times = row.runs ?? runs;
  const end = performance.now() + ROW_MS;
  const attempt = async (what: string, into: number[], take: () => Promise<number>) => {
    if (failures.has(what)) return;
    progress(`${elapsed()} ${row.name} ${into.length + 1}/${times}, ${what}: `);
    try {
      const figure = await take();
      into.push(figure);
      progress(`${figure.toFixed(row.unit.digits)} ${row.unit.name}\n`);
    } catch (error) {
      const text = messageOf(error);
      failures.set(what, `${what} FAILED: ${text.slice(0, 300).trimEnd()}`);
      progress(`FAILED: ${text}\n`);
    }
  };
  for (let i = 1; i <= times; i++) {
    if (performance.now() > end) {
      stage.remarks.add(`only ${i - 1} of ${times} runs were begun in ${ROW_MS / 1000} s`);
      break;
    }
    for (const side of sides) await attempt(side.name, figures[side.name], () => row.measure(stage, side));
    const { limit: measureLimit } = row;
    if (measureLimit !== undefined) await attempt("bare sockets", limit, () => measureLimit());
  }
  const remarks = [...stage.remarks];
  stage.remarks.clear();
  const { name, title, unit } = row;
  return { name, title, unit, figures, limit, remarks, failures: [...failures.values()] };
}

/** The run time of this program, in minutes and seconds. */
function elapsed(): string {
  const seconds = Math.floor(performance.now() / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, "0")}`;
}
