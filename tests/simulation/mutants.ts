/**
 * `deno task simulate-mutants`: changes lines about delivery, acknowledgement, the spool and rotation, one at a time in
 * a copy of the tree, and says within how many seeds the simulation finds each.
 *
 *     deno task simulate-mutants [--guards] [--list] [--count 20] [--seeds 1000] [--seconds 600] [--seed 1]
 *       [--file FILE] [--at 3] [--workers 2]
 * @module
 */

import { findMutants, isEquivalent, type Mutant, sample, thatCompile } from "#scripts/mutants/find.ts";
import { Copy } from "#scripts/mutants/trial.ts";
import { parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";
import { OUTSIDE } from "./outside.ts";
import { LOOPS } from "./run.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** The files of which a simulation runs every line that matters. */
const FILES = [
  "lib/cluster/publish_log.ts",
  "lib/jobs/redelivery.ts",
  "lib/jobs/undelivered.ts",
  "lib/jobs/undelivered_log.ts",
  "lib/keys/shared_key.ts",
  "lib/master/publisher/delivery.ts",
  "lib/minion/masters/jid_memory.ts",
  "lib/minion/masters/publish_reader.ts",
  "lib/minion/masters/return_spool.ts",
];

/** Number of mutants without a `--count`. */
const SAMPLE = 20;
/** The numbers of seeds of the summary. */
const STEPS = [10, 50, 150, 1000];

const USAGE = `Usage: deno task simulate-mutants [options]

  --guards     Only mutants that take a guard away or widen it (docs/mutants.md), and all of them.
  --list       List the mutants that compile, and run nothing.
  --count N    Number of mutants, taken from all files. Default: 20; with --guards: all.
  --seeds N    Seeds for each, at most, or which: 7,33,100-120. Default: 1000.
  --seconds N  Time for each, at most. Default: 600.
  --seed N     Another sample. Default: 1.
  --file FILE  Only mutants of this file, or of one line of it: lib/jobs/redelivery.ts:112. May be repeated.
  --at N       Begins with the N-th mutant of the sample. Default: 1.
  --workers N  Mutants that are tried at once. Default: 1.
  --help       Show this.
`;

/** What came of a mutant: the seed that finds it, or the number of seeds that do not. */
type Verdict = { readonly seed: number } | { readonly loops: true } | { readonly missedBy: number };

async function judge(
  copy: Copy,
  mutant: Mutant,
  { seeds, seconds }: Record<"seeds" | "seconds", string>,
): Promise<Verdict> {
  return await copy.with(mutant, async () => {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "tests/simulation/run.ts",
        "--first",
        "--seeds",
        /^\d+$/.test(seeds) ? `1-${seeds}` : seeds,
        "--seconds",
        seconds,
      ],
      cwd: copy.root,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).output();
    const text = new TextDecoder().decode(stdout);
    if (code === LOOPS) return { loops: true };
    if (code === 0) return { missedBy: Number(/^(\d+) seeds,/m.exec(text)?.[1] ?? 0) };
    // A program that cannot begin has found it before its first seed.
    return { seed: Number(/^seed (\d+):/m.exec(text)?.[1] ?? 1) };
  });
}

function verdictText(verdict: Verdict): string {
  if ("loops" in verdict) return "loops";
  return "seed" in verdict ? `seed ${verdict.seed}` : `not found by ${verdict.missedBy}`;
}

function isOutside({ file, code, change }: Mutant): boolean {
  return OUTSIDE.some((known) => known.file === file && known.code === code && known.change === change);
}

/** @throws {Error} If a mutant that the simulation does not look for is none any more. */
function checkOutside(all: readonly Mutant[]): void {
  const stale = OUTSIDE.find(({ file, code, change }) =>
    !all.some((mutant) => mutant.file === file && mutant.code === code && mutant.change === change)
  );
  if (stale !== undefined) throw new Error(`tests/simulation/outside.ts: ${stale.file}: ${stale.code}: no such mutant`);
}

/** Whether a mutant is one of those that the options select. */
function selects({ guards, places }: { readonly guards: boolean; readonly places: readonly string[] }) {
  const lines = places.filter((place) => /:\d+$/.test(place));
  const files = places.filter((place) => !lines.includes(place));
  return (mutant: Mutant) =>
    (!guards || mutant.guard && !isOutside(mutant)) && !isEquivalent(mutant) &&
    (places.length === 0 || files.includes(mutant.file) || lines.includes(`${mutant.file}:${mutant.line}`));
}

/** How many were found within so many seeds, and how many not. */
function summaryOf(verdicts: readonly Verdict[]): string {
  const seeds = verdicts.flatMap((verdict) => "seed" in verdict ? verdict.seed : "loops" in verdict ? 1 : []);
  const within = STEPS.map((step) => `${seeds.filter((seed) => seed <= step).length} within ${step}`);
  return `${seeds.length} of ${verdicts.length} found: ${within.join(", ")} seeds`;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseOptions({
    args,
    options: {
      guards: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      count: { type: "string" },
      seeds: { type: "string", default: "1000" },
      seconds: { type: "string", default: "600" },
      file: { type: "string", multiple: true, default: [] },
      at: { type: "string", default: "1" },
      workers: { type: "string", default: "1" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  const print = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(text));
  if (values.help) return print(USAGE), 0;
  const places = values.file;
  const files = places.length === 0 ? FILES : [...new Set(places.map((place) => place.replace(/:\d+$/, "")))];
  const everything = await findMutants(ROOT, files);
  if (places.length === 0) checkOutside(everything);
  const all = everything.filter(selects({ guards: values.guards, places }));
  const count = values.count === undefined ? values.guards ? all.length : SAMPLE : Number(values.count);
  await using copies = new AsyncDisposableStack();
  const first = copies.use(await Copy.of(ROOT));
  const chosen = [...await thatCompile(first.root, sample(all, count, Number(values.seed)))].slice(
    Number(values.at) - 1,
  );
  const describe = ({ file, line, kind, change }: Mutant) => `${file}:${line} ${kind}: ${change}`;
  if (values.list) return print(chosen.map((mutant) => `${describe(mutant)}\n`).join("")), 0;
  const verdicts: Verdict[] = [];
  const waiting = [...chosen];
  const work = async (copy: Copy) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const verdict = await judge(copy, mutant, values);
      verdicts.push(verdict);
      print(`${verdictText(verdict).padEnd(16)} ${describe(mutant)}\n`);
    }
  };
  const workers = [first];
  while (workers.length < Number(values.workers)) workers.push(copies.use(await Copy.of(ROOT)));
  await Promise.all(workers.map(work));
  print(`${summaryOf(verdicts)}; ${all.length} mutants in all, of which some do not compile\n`);
  return 0;
}

if (import.meta.main) await runScript(main, { name: "simulate-mutants", usage: USAGE });
