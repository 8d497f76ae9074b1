/**
 * `deno task simulate-mutants`: changes lines about delivery, acknowledgement, the spool and rotation, one at a time in
 * a copy of the tree, and says within how many seeds the simulation finds each.
 *
 *     deno task simulate-mutants [--count 20] [--seeds 1000] [--seconds 600] [--seed 1] [--file FILE] [--at 3]
 * @module
 */

import { findMutants, isEquivalent, type Mutant, sample, thatCompile } from "#scripts/mutants/find.ts";
import { Copy } from "#scripts/mutants/trial.ts";
import { parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";
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

const USAGE = `Usage: deno task simulate-mutants [options]

  --count N    Number of mutants, taken from all files. Default: 20.
  --seeds N    Seeds for each, at most. Default: 1000.
  --seconds N  Time for each, at most. Default: 600.
  --seed N     Another sample. Default: 1.
  --file FILE  Only mutants of this file.
  --at N       Begins with the N-th mutant of the sample. Default: 1.
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
        `1-${seeds}`,
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
    // A program that ends without a story has found it in its first seed.
    return { seed: Number(/^seed (\d+):/m.exec(text)?.[1] ?? 1) };
  });
}

function verdictText(verdict: Verdict): string {
  if ("loops" in verdict) return "loops";
  return "seed" in verdict ? `seed ${verdict.seed}` : `not found by ${verdict.missedBy}`;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseOptions({
    args,
    options: {
      count: { type: "string", default: "20" },
      seeds: { type: "string", default: "1000" },
      seconds: { type: "string", default: "600" },
      file: { type: "string" },
      at: { type: "string", default: "1" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  const print = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(text));
  if (values.help) return print(USAGE), 0;
  const all = (await findMutants(ROOT, values.file === undefined ? FILES : [values.file]))
    .filter((mutant) => !isEquivalent(mutant));
  const chosen = [...await thatCompile(ROOT, sample(all, Number(values.count), Number(values.seed)))]
    .slice(Number(values.at) - 1);
  await using copy = await Copy.of(ROOT);
  let found = 0;
  for (const mutant of chosen) {
    const verdict = await judge(copy, mutant, values);
    if (!("missedBy" in verdict)) found++;
    print(`${verdictText(verdict).padEnd(16)} ${mutant.file}:${mutant.line} ${mutant.change}\n`);
  }
  print(`${found} of ${chosen.length} found; ${all.length} mutants in all\n`);
  return 0;
}

if (import.meta.main) await runScript(main, { name: "simulate-mutants", usage: USAGE });
