/**
 * `deno task simulate-mutants`: changes lines about delivery, acknowledgement, the spool and rotation, one at a time in
 * a copy of the tree, and says within how many seeds the simulation finds each.
 *
 *     deno task simulate-mutants [--count 20] [--seeds 1000] [--seed 1]
 * @module
 */

import { findMutants, isEquivalent, type Mutant, sample, thatCompile } from "#scripts/mutants/find.ts";
import { Copy } from "#scripts/mutants/trial.ts";
import { parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

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

/** A run that takes longer has found the mutant: it loops. In milliseconds for each seed, and beside them. */
const SEED_MS = 5_000, START_MS = 60_000;

const USAGE = `Usage: deno task simulate-mutants [options]

  --count N   Number of mutants, taken from all files. Default: 20.
  --seeds N   Seeds for each. Default: 1000.
  --seed N    Another sample. Default: 1.
  --help      Show this.
`;

/** @returns The seed that finds it; 0: it loops; `undefined`: none does. */
async function foundBy(copy: Copy, mutant: Mutant, seeds: number): Promise<number | undefined> {
  return await copy.with(mutant, async () => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "tests/simulation/run.ts", "--seeds", `1-${seeds}`, "--first"],
      cwd: copy.root,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGTERM");
    }, START_MS + seeds * SEED_MS);
    const { code, stdout } = await child.output();
    clearTimeout(timer);
    if (isLate) return 0;
    // A program that ends without a story has found it in its first seed.
    const seed = /^seed (\d+):/m.exec(new TextDecoder().decode(stdout))?.[1];
    return code === 0 ? undefined : Number(seed ?? 1);
  });
}

async function main(args: string[]): Promise<number> {
  const { values } = parseOptions({
    args,
    options: {
      count: { type: "string", default: "20" },
      seeds: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  const print = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(text));
  if (values.help) return print(USAGE), 0;
  const all = (await findMutants(ROOT, FILES)).filter((mutant) => !isEquivalent(mutant));
  const chosen = [...await thatCompile(ROOT, sample(all, Number(values.count), Number(values.seed)))];
  await using copy = await Copy.of(ROOT);
  let found = 0;
  for (const mutant of chosen) {
    const seed = await foundBy(copy, mutant, Number(values.seeds));
    if (seed !== undefined) found++;
    const verdict = seed === undefined ? "not found" : seed === 0 ? "loops" : `seed ${seed}`;
    print(`${verdict.padEnd(10)} ${mutant.file}:${mutant.line} ${mutant.change}\n`);
  }
  print(`${found} of ${chosen.length} found within ${values.seeds} seeds; ${all.length} mutants in all\n`);
  return 0;
}

if (import.meta.main) await runScript(main, { name: "simulate-mutants", usage: USAGE });
