/**
 * `deno task fuzz`: feeds all readers of foreign data, and prints a table.
 *
 * Each target runs in its own process, two at a time, so that its memory can be measured separately. The exit code is 1
 * if there was any fault. docs/fuzzing.md describes the next steps.
 * @module
 */

import type { Tally } from "./engine.ts";
import type { FuzzTarget } from "./target.ts";
import { TARGETS } from "./targets.ts";
import { feedWatched } from "./watch.ts";
import { writeOut as say } from "#lib/commands/cli/process_io.ts";
import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const USAGE = `Usage: deno task fuzz [options]

  --seed N     Another run; the same seed gives the same inputs. Default: 1.
  --inputs N   How many in all, or for the only target. Default: 240000.
  --only NAME  One target, or all whose names begin so.
  --at N       Feed the input of that number alone; with --only.
  --list       List the targets.
  --help       Show this.
`;

interface Options {
  readonly seed: string;
  readonly inputs: number;
  readonly at: number | undefined;
}

async function main(argv: string[]): Promise<number> {
  const { values } = parseOptions({
    args: argv,
    options: {
      seed: { type: "string", default: "1" },
      inputs: { type: "string", default: "240000" },
      only: { type: "string" },
      at: { type: "string" },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
      /** The parameters of a process that feeds one target. */
      child: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE), 0;
  if (values.list) return say(TARGETS.map(({ name }) => `${name}\n`).join("")), 0;
  const options = {
    seed: values.seed,
    inputs: Number(values.inputs),
    at: values.at === undefined ? undefined : Number(values.at),
  };
  if (!(options.inputs >= 1)) throw new OptionError(`--inputs: ${values.inputs} is no number of inputs`);
  const chosen = TARGETS.filter(({ name }) =>
    name.startsWith(values.only ?? "") && (!values.child || name === values.only)
  );
  if (chosen.length === 0) throw new OptionError(`--only: there is no target ${values.only}`);
  if (values.child) return await feedHere(chosen[0], options);

  const started = performance.now();
  say(`Seed ${options.seed}\n${row(["target", "inputs", "accepted", "refused", "slowest", "memory", "time"])}`);
  const tallies = await feedAll(chosen, options);
  const inputs = tallies.reduce((sum, tally) => sum + tally.inputs, 0);
  const faults = tallies.reduce((sum, tally) => sum + tally.faults.length, 0);
  const slow = tallies.reduce((sum, tally) => sum + tally.slow.length, 0);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  say(`\n${inputs} inputs in ${seconds} s; ${slow} slower than 100 ms; ${faults} faults\n`);
  for (const tally of tallies) say(details(tally, options.seed));
  return faults === 0 ? 0 : 1;
}

/** Runs two at a time, the longest first. */
async function feedAll(chosen: readonly FuzzTarget[], options: Options): Promise<ProcessTally[]> {
  const shares = chosen.reduce((sum, { share }) => sum + share, 0);
  const waiting = [...chosen];
  const tallies: ProcessTally[] = [];
  const lane = async () => {
    for (let target = waiting.pop(); target !== undefined; target = waiting.pop()) {
      const inputs = Math.ceil(options.inputs * target.share / shares);
      const tally = await feedInProcess(target, { ...options, inputs });
      tallies.push(tally);
      say(summary(tally));
    }
  };
  await Promise.all([lane(), lane()]);
  return tallies;
}

/** A tally, and the memory of its process. */
interface ProcessTally extends Tally {
  /** Resident memory at the end, in MiB. */
  readonly rssMiB: number;
}

async function feedInProcess(target: FuzzTarget, { seed, inputs, at }: Options): Promise<ProcessTally> {
  const only = at === undefined ? [] : ["--at", String(at)];
  const args = [
    "run",
    "-A",
    "--v8-flags=--expose-gc",
    import.meta.filename ?? "",
    "--child",
    "--only",
    target.name,
    "--seed",
    seed,
    "--inputs",
    String(inputs),
    ...only,
  ];
  const { stdout, stderr, code, signal } = await new Deno.Command(Deno.execPath(), { args }).output();
  try {
    return JSON.parse(new TextDecoder().decode(stdout));
  } catch {
    // The process has ended without a tally: the end of its output is the only information.
    const problem = `the process ended (${signal ?? code}): ${new TextDecoder().decode(stderr).slice(-2_000)}`;
    const fault = { problem, index: -1, input: "" };
    return {
      name: target.name,
      inputs: 0,
      outcomes: {},
      slowestMs: 0,
      slow: [],
      faults: [fault],
      tookMs: 0,
      rssMiB: 0,
    };
  }
}

async function feedHere({ name }: FuzzTarget, { at, ...options }: Options): Promise<number> {
  const tally = await feedWatched({ name, ...options, ...(at !== undefined && { at }) });
  const whole: ProcessTally = { ...tally, rssMiB: Math.round(Deno.memoryUsage().rss / 1024 / 1024) };
  await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(whole)));
  return 0;
}

/** Outcomes with the name of an error are refusals. */
function isRefusal(outcome: string): boolean {
  return /Error$|^"|^bad |^unreadable$|^an error$|^cut off$/.test(outcome);
}

function summary(tally: ProcessTally): string {
  const entries = Object.entries(tally.outcomes);
  const count = (refused: boolean) =>
    entries.filter(([name]) => isRefusal(name) === refused).reduce((sum, [, n]) => sum + n, 0);
  return row([
    tally.name,
    String(tally.inputs),
    String(count(false)),
    String(count(true)),
    `${tally.slowestMs.toFixed(1)} ms`,
    `${tally.rssMiB} MiB`,
    `${(tally.tookMs / 1000).toFixed(1)} s${tally.faults.length === 0 ? "" : `  ${tally.faults.length} FAULTS`}`,
  ]);
}

function row(cells: readonly string[]): string {
  return `${cells.map((cell, i) => i === 0 ? cell.padEnd(18) : cell.padStart(11)).join("")}\n`;
}

function details({ name, outcomes, slow, faults }: Tally, seed: string): string {
  const list = Object.entries(outcomes).sort(([, a], [, b]) => b - a).map(([outcome, n]) => `${outcome} ${n}`).join(
    ", ",
  );
  const again = (index: number) => `deno task fuzz --seed ${seed} --only ${name} --at ${index}`;
  const slowLines = slow.map(({ index, ms, input }) =>
    `  slow, ${ms.toFixed(0)} ms: ${again(index)}\n    ${input.slice(0, 300)}\n`
  );
  const faultLines = faults.map(({ index, problem, input }) =>
    `  FAULT: ${again(index)}\n    ${problem.replaceAll("\n", "\n    ")}\n    ${input}\n`
  );
  return `${name}: ${list}\n${slowLines.join("")}${faultLines.join("")}`;
}

if (import.meta.main) await runScript(main, { name: "fuzz", usage: `\n${USAGE}` });
