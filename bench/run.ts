/**
 * `deno task bench`: ours beside Python Salt, on this machine, in this run.
 *
 * Real masters and minions, measured in turn; a table on standard output, and all figures as JSON.
 * @module
 */

import { parseArgs } from "node:util";
import { COMMAND_ROWS } from "./command_rows.ts";
import { FLEET_OF_ONE_ROWS } from "./fleet_of_one_rows.ts";
import { thisMachine } from "./machine.ts";
import { findPythonSalt, PYTHON_SALTS } from "./python_salt.ts";
import { type Measured, type Report, reportText } from "./report.ts";
import { type Row, Stage } from "./row.ts";
import { OURS, type Side } from "./sides.ts";
import { START_ROWS } from "./start_rows.ts";
import { SWARM_ROWS } from "./swarm_rows.ts";

const ROWS: readonly Row[] = [...COMMAND_ROWS, ...FLEET_OF_ONE_ROWS, ...START_ROWS, ...SWARM_ROWS];

const USAGE = `Usage: deno task bench [options] [row…]

  --runs N          How often each row is measured on each side. Default: 5.
  --python VERSION  The Python Salt to compare with; more than once for several; "none". Default: ${PYTHON_SALTS[0]}.
  --list            List the rows.
  --help            Show this.

A row may be the beginning of several: \`deno task bench ping\`.
`;

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      runs: { type: "string", default: "5" },
      python: { type: "string", multiple: true, default: [PYTHON_SALTS[0]] },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  if (values.list) return say(ROWS.map(({ name, title }) => `${name.padEnd(16)} ${title}\n`).join(""));
  const rows = chosen(positionals);
  const runs = Number(values.runs);
  if (!(runs >= 1)) throw new TypeError(`--runs: ${values.runs} is no number of runs`);
  const wanted = values.python.filter((version) => version !== "none");
  const found = wanted.map(findPythonSalt).filter((side) => side !== undefined);
  const missing = wanted.filter((version) => findPythonSalt(version) === undefined)
    .map((version) => `Python Salt ${version} is not installed here: \`deno task interop\` installs it.`);

  const sides = [OURS, ...found];
  const machine = thisMachine();
  const measured: Measured[] = [];
  let open: Stage | undefined;
  const interrupt = async () => {
    await open?.[Symbol.asyncDispose]();
    Deno.exit(130);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, interrupt);
  for (const group of new Set(rows.map((row) => row.group))) {
    await using stage = open = new Stage();
    for (const row of rows.filter((each) => each.group === group)) {
      measured.push(await measure(row, { stage, sides, runs }));
    }
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.removeSignalListener(signal, interrupt);
  const report: Report = { machine, sides: sides.map(({ name }) => name), missing, rows: measured };
  say(`\n${reportText(report)}\n`);
  progress(`All figures: ${save(report)}\n`);
}

function chosen(names: readonly string[]): readonly Row[] {
  if (names.length === 0) return ROWS;
  for (const name of names) {
    if (!ROWS.some((row) => row.name.startsWith(name))) throw new TypeError(`no row is called ${name}; see --list`);
  }
  // A full name means that row alone: ping-100 is no beginning of anything.
  return ROWS.filter((row) =>
    names.some((name) => ROWS.some((each) => each.name === name) ? row.name === name : row.name.startsWith(name))
  );
}

interface Conditions {
  readonly stage: Stage;
  readonly sides: readonly Side[];
  readonly runs: number;
}

/** Measures a row on all sides in turn, so that whatever else the machine does meets all of them. */
async function measure(row: Row, { stage, sides, runs }: Conditions): Promise<Measured> {
  const figures: Record<string, number[]> = Object.fromEntries(sides.map(({ name }) => [name, []]));
  const limit: number[] = [];
  const times = row.runs ?? runs;
  for (let i = 1; i <= times; i++) {
    for (const side of sides) {
      progress(`${row.name} ${i}/${times}, ${side.name}\n`);
      figures[side.name].push(await row.measure(stage, side));
    }
    if (row.limit !== undefined) limit.push(await row.limit());
  }
  const remarks = [...stage.remarks];
  stage.remarks.clear();
  return { name: row.name, title: row.title, unit: row.unit, figures, limit, remarks };
}

/** @returns The file. */
function save(report: Report): string {
  const directory = decodeURIComponent(new URL("results", import.meta.url).pathname);
  Deno.mkdirSync(directory, { recursive: true });
  const path = `${directory}/${report.machine.date.replace(/[:.]/g, "-")}.json`;
  Deno.writeTextFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  return path;
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

function progress(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}

if (import.meta.main) {
  try {
    await main(Deno.args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    progress(`bench: ${error.message}\n`);
    Deno.exit(64);
  }
}
