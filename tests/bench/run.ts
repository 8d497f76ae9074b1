/**
 * `deno task bench`: compares ours with Python Salt on this machine, in one run.
 *
 * Real masters and minions are measured in turn. Writes a table to standard output, and all figures as JSON.
 * @module
 */

import { API_ROWS } from "#tests/bench/rows/api.ts";
import { BEACON_ROWS } from "#tests/bench/rows/beacons.ts";
import { COMMAND_ROWS } from "#tests/bench/rows/command.ts";
import { COMPLETION_ROWS } from "#tests/bench/rows/completion.ts";
import { EXECUTABLE_ROWS } from "#tests/bench/rows/executable.ts";
import { removeRoots } from "#tests/bench/fleets/fleet.ts";
import { FILE_ROWS } from "#tests/bench/rows/file.ts";
import { FLEET_OF_ONE_ROWS } from "#tests/bench/rows/fleet_of_one.ts";
import { LOAD_ROWS } from "#tests/bench/rows/load.ts";
import { PYTHON_PLUGIN_ROWS } from "#tests/bench/rows/python_plugins.ts";
import { REACTOR_ROWS } from "#tests/bench/rows/reactor.ts";
import { thisMachine } from "#tests/bench/harness/machine.ts";
import { measure } from "./measure.ts";
import { MANY_JOBS_ROWS } from "#tests/bench/rows/many_jobs.ts";
import { MINE_ROWS } from "#tests/bench/rows/mine.ts";
import { MEMORY_ROWS } from "#tests/bench/rows/memory.ts";
import { minionsPlot } from "./plot.ts";
import { findPythonSalt, NEWEST_PYTHON, PYTHON_SALTS, type PythonVersion } from "#tests/bench/harness/python_salt.ts";
import { type Measured, type Report, reportText } from "./report.ts";
import { type Row, Stage } from "#tests/bench/rows/row.ts";
import { OURS } from "#tests/bench/harness/sides.ts";
import { SCHEDULE_ROWS } from "#tests/bench/rows/schedule.ts";
import { START_ROWS } from "#tests/bench/rows/start.ts";
import { DURABILITY_ROWS } from "#tests/bench/rows/durability.ts";
import { STORES_ROWS } from "#tests/bench/rows/stores.ts";
import { APPLY_FLEET_ROWS } from "#tests/bench/rows/apply_fleet.ts";
import { APPLY_ROWS } from "#tests/bench/rows/apply.ts";
import { STATE_ROWS } from "#tests/bench/rows/state.ts";
import { STORE_ROWS } from "#tests/bench/rows/store.ts";
import { SWARM_ROWS } from "#tests/bench/rows/swarm.ts";
import { TEMPLATE_ROWS } from "#tests/bench/rows/template.ts";
import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const ROWS: readonly Row[] = [
  ...COMMAND_ROWS,
  ...COMPLETION_ROWS,
  ...FLEET_OF_ONE_ROWS,
  ...START_ROWS,
  ...DURABILITY_ROWS,
  ...STORES_ROWS,
  ...STORE_ROWS,
  ...MANY_JOBS_ROWS,
  ...MINE_ROWS,
  ...TEMPLATE_ROWS,
  ...STATE_ROWS,
  ...APPLY_ROWS,
  ...APPLY_FLEET_ROWS,
  ...LOAD_ROWS,
  ...REACTOR_ROWS,
  ...API_ROWS,
  ...BEACON_ROWS,
  ...SCHEDULE_ROWS,
  ...PYTHON_PLUGIN_ROWS,
  ...SWARM_ROWS,
  ...MEMORY_ROWS,
  ...FILE_ROWS,
  ...EXECUTABLE_ROWS,
];

const DOCS = decodeURIComponent(new URL("../../docs", import.meta.url).pathname);
const RESULTS = decodeURIComponent(new URL("results", import.meta.url).pathname);

const USAGE = `Usage: deno task bench [options] [row…]

  --runs N          How often each row is measured on each side. Default: 5.
  --quick           One run of each row, without the rows that take long.
  --minutes N       No row is begun after so long. Default: 40.
  --python VERSION  The Python Salt to compare all rows with; more than once for several; "none".
                    Default: ${NEWEST_PYTHON}, and ${PYTHON_SALTS[1]} for the rows where it is the faster one.
  --docs            Put the table and the plot into docs/.
  --list            List the rows.
  --help            Show this.

A row may be the beginning of several: \`deno task bench ping\`.
`;

/** @returns The exit code: 1 if something could not be measured. */
async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args,
    allowPositionals: true,
    options: {
      runs: { type: "string", default: "5" },
      quick: { type: "boolean", default: false },
      minutes: { type: "string", default: "40" },
      python: { type: "string", multiple: true },
      docs: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  if (values.list) return say(ROWS.map(({ name, title }) => `${name.padEnd(16)} ${title}\n`).join(""));
  const rows = chosen(positionals).filter((row) => !(values.quick && row.long && !positionals.includes(row.name)));
  const runs = values.quick ? 1 : number("runs", values.runs);
  const pythons = values.python?.filter((version) => version !== "none").map(pythonVersion);
  const compared = (row: Row) => pythons ?? row.pythons ?? NEWEST_PYTHON;
  const requested = PYTHON_SALTS.filter((version) => rows.some((row) => compared(row).includes(version)));
  const missing = requested.filter((version) => findPythonSalt(version) === undefined)
    .map((version) => `Python Salt ${version} is not installed here: \`deno task interop\` installs it.`);
  const sidesOf = (row: Row) => [OURS, ...compared(row).map(findPythonSalt).filter((side) => side !== undefined)];

  const machine = thisMachine();
  const measured: Measured[] = [];
  const end = performance.now() + number("minutes", values.minutes) * 60_000;
  let open: Stage | undefined;
  const interrupt = async () => {
    await open?.[Symbol.asyncDispose]();
    removeRoots();
    Deno.exit(130);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, interrupt);
  const sides = [OURS, ...requested.map(findPythonSalt).filter((side) => side !== undefined)].map(({ name }) => name);
  const reported = (): Report => {
    return { machine, sides, missing, rows: measured, runs, seconds: Math.round(performance.now() / 1000) };
  };
  const failed: string[] = [];
  for (const group of new Set(rows.map((row) => row.group))) {
    const stage = open = new Stage();
    for (const row of rows.filter((each) => each.group === group)) {
      if (performance.now() < end) {
        const figures = await measure(row, { stage, sides: sidesOf(row), runs, progress });
        measured.push(figures);
        failed.push(...figures.failures.map((text) => `${row.name}: ${text}`));
        // If the run ends early, no measured figure is lost.
        save(reported());
      } else missing.push(`No time was left for the row ${row.name}.`);
    }
    await stage[Symbol.asyncDispose]().catch((error) => failed.push(`${group}: its fleets did not end: ${error}`));
  }
  removeRoots();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.removeSignalListener(signal, interrupt);
  const report = reported();
  say(`\n${reportText(report)}\n`);
  progress(`All figures: ${save(report)}\n`);
  if (values.docs) putIntoDocs(report);
  for (const text of failed) progress(`${text}\n`);
  return failed.length > 0 ? 1 : 0;
}

function number(name: string, text: string): number {
  if (Number(text) >= 1) return Number(text);
  throw new OptionError(`--${name}: ${text} is no number from 1`);
}

function pythonVersion(text: string): PythonVersion {
  const version = PYTHON_SALTS.find((known) => known === text);
  if (version === undefined) throw new OptionError(`--python: ${text} is none of ${PYTHON_SALTS.join(", ")}`);
  return version;
}

function chosen(names: readonly string[]): readonly Row[] {
  if (names.length === 0) return ROWS;
  for (const name of names) {
    if (!ROWS.some((row) => row.name.startsWith(name))) throw new OptionError(`no row is called ${name}; see --list`);
  }
  // A complete name selects only that row: ping-100 does not select ping-1000.
  return ROWS.filter((row) =>
    names.some((name) => ROWS.some((each) => each.name === name) ? row.name === name : row.name.startsWith(name))
  );
}

/** @returns The file. */
function save(report: Report): string {
  Deno.mkdirSync(RESULTS, { recursive: true });
  const path = `${RESULTS}/${report.machine.date.replace(/[:.]/g, "-")}`;
  Deno.writeTextFileSync(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  const plot = minionsPlot(report);
  if (plot !== undefined) Deno.writeTextFileSync(`${path}.svg`, plot);
  return `${path}.json`;
}

/** The place of the table in docs/performance.md. */
const TABLE = /(?<=<!-- table -->\n)[^]*(?=<!-- end of the table -->)/;

function putIntoDocs(report: Report): void {
  const path = `${DOCS}/performance.md`;
  const page = Deno.readTextFileSync(path);
  Deno.writeTextFileSync(path, page.replace(TABLE, () => `\n${reportText(report)}\n`));
  const plot = minionsPlot(report);
  if (plot !== undefined) Deno.writeTextFileSync(`${DOCS}/minions.svg`, plot);
}

/**
 * Prints an error.
 * @returns The exit code.
 */
function say(text: string): 0 {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
  return 0;
}

function progress(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}

if (import.meta.main) await runScript(main, { name: "bench" });
