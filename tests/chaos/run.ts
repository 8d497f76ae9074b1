/**
 * `deno task chaos`: causes real faults in real processes, and shows a table of the promises and results.
 *
 * The exit code is 1 if a promise did not hold. docs/reliability.md describes the promises.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { type FlakyRun, judgeFlaky, readFlakyList } from "#scripts/flaky.ts";
import { Random } from "#tests/fuzz/mutate.ts";
import { type Fault, type Figure, holds } from "#tests/chaos/harness/fault.ts";
import { FAULTS } from "./faults.ts";
import { writeOut as say } from "#lib/commands/cli/process_io.ts";
import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const USAGE = `Usage: deno task chaos [options]

  --only NAMES  Those faults alone, or all whose names begin so; comma-separated.
  --short       The short forms, of seconds; without it, the long ones, of minutes.
  --again       A fault under which a promise breaks is made once more; one that holds then is told of as flaky.
  --seed N      Another run; the same seed makes the same choices. Default: 1.
  --json FILE   The figures as JSON as well.
  --list        List the faults.
  --help        Show this.
`;

/** The name of this task in the list of flaky tests. */
const TASK = "deno task chaos";

/** The outcome of one fault. */
export interface Outcome {
  readonly name: string;
  readonly figures: readonly Figure[];
  readonly seconds: number;
  /** Why the fault could not be caused, or the error. */
  readonly problem?: string;
  readonly word: "holds" | "BROKEN" | "skipped";
}

async function main(argv: string[]): Promise<number> {
  const { values } = parseOptions({
    args: argv,
    options: {
      only: { type: "string", default: "" },
      short: { type: "boolean", default: false },
      again: { type: "boolean", default: false },
      seed: { type: "string", default: "1" },
      json: { type: "string" },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE), 0;
  const prefixes = values.only.split(",");
  const chosen = FAULTS.filter(({ name }) => prefixes.some((begin) => name.startsWith(begin)));
  if (values.list) return say(chosen.map(({ name, what }) => `${name.padEnd(20)}${what}\n`).join("")), 0;
  if (chosen.length === 0) throw new OptionError(`--only: there is no fault ${values.only}`);

  const list = readFlakyList();
  const { outcomes, flaky } = await makeAll(chosen, { long: !values.short, seed: values.seed, again: values.again });
  const count = (word: Outcome["word"]) => outcomes.filter((outcome) => outcome.word === word).length;
  if (values.json !== undefined) {
    Deno.writeTextFileSync(values.json, `${JSON.stringify({ seed: values.seed, faults: outcomes }, undefined, 2)}\n`);
  }
  const judged = judgeFlaky({ flaky, list, ran: [TASK], seconds: performance.now() / 1000 });
  const failed = count("BROKEN") + judged.failed;
  if (judged.lines.length > 0) say(`\n${judged.lines.join("\n")}\n`);
  say(
    `\n${failed === 0 ? "ok" : "FAILED"} | ${count("holds")} passed | ${failed} failed | ${
      count("skipped")
    } ignored | ` +
      `${flaky.length} flaky\n`,
  );
  return failed === 0 ? 0 : 1;
}

export interface Making {
  readonly long: boolean;
  readonly seed: string;
  /** Whether a fault runs once more if its promise did not hold. The second outcome counts then. */
  readonly again: boolean;
}

/** Causes faults, one after the other, and reports each. */
export async function makeAll(
  faults: readonly Fault[],
  making: Making,
): Promise<{ outcomes: readonly Outcome[]; flaky: readonly FlakyRun[] }> {
  const outcomes: Outcome[] = [];
  const flaky: FlakyRun[] = [];
  for (const fault of faults) {
    let outcome = await make(fault, making);
    say(table(outcome));
    if (outcome.word === "BROKEN" && making.again) {
      outcome = await make(fault, making);
      say(table(outcome));
      if (outcome.word !== "BROKEN") flaky.push({ file: TASK, failures: [fault.name] });
    }
    outcomes.push(outcome);
  }
  return { outcomes, flaky };
}

async function make(fault: Fault, { long, seed }: Making): Promise<Outcome> {
  const { name } = fault;
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  say(`\n${name}: ${fault.what}\n`);
  const missing = fault.missing?.();
  if (missing !== undefined) return { name, figures: [], seconds: 0, problem: missing, word: "skipped" };
  try {
    const random = new Random(`${seed}/${name}`);
    const figures = await fault.run({ long, random, say: (text) => say(`  [${seconds()} s] ${text}\n`) });
    return { name, figures, seconds: seconds(), word: figures.every(holds) ? "holds" : "BROKEN" };
  } catch (error) {
    const problem = messageOf(error);
    return { name, figures: [], seconds: seconds(), problem, word: "BROKEN" };
  }
}

function table({ name, figures, seconds, problem, word }: Outcome): string {
  const lines = figures.map((figure) => {
    const { atMost, atLeast } = figure;
    const bounds = [
      ...atLeast === undefined ? [] : [`at least ${atLeast}`],
      ...atMost === undefined ? [] : [`at most ${atMost}`],
    ];
    const mark = holds(figure) ? "" : "  BROKEN";
    return `  ${figure.name.padEnd(40)}${String(figure.value).padStart(10)}   ${bounds.join(", ")}${mark}`.trimEnd() +
      "\n";
  });
  return `${name}: ${word} (${seconds} s)\n${problem === undefined ? "" : `  ${problem}\n`}${lines.join("")}`;
}

if (import.meta.main) await runScript(main, { name: "chaos", usage: `\n${USAGE}` });
