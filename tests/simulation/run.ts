/**
 * `deno task simulate`: fleets in a simulated world, where a seed decides what happens: delays, cuts and stalls of the
 * network, deaths of a master or a minion between two calls of the disk, clocks that jump, rotations of keys. The code
 * of master and minion is the real one; sockets and timers are replaced by an import map, clocks, chance and the disk
 * by other globals (globals.ts). Says which seeds broke a promise of docs/reliability.md.
 *
 *     deno task simulate [--seeds 1-200,777] [--jobs 20] [--seconds N] [--trace SEED | --hash | --first]
 * @module
 */

import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";
import { parseSeeds } from "./seed_list.ts";

const ROOT = new URL("../../", import.meta.url);

function fromFileUrl({ pathname }: URL): string {
  return decodeURIComponent(pathname);
}

/** The modules that a simulation replaces, by the files that replace them. */
const REPLACED: Readonly<Record<string, string>> = {
  "lib/fleet/connected_ids.ts": "tests/simulation/replacements/connected_ids.ts",
  "lib/libc/sync.ts": "tests/simulation/replacements/sync.ts",
  "lib/minion/masters/master_diagnosis.ts": "tests/simulation/replacements/master_diagnosis.ts",
  "lib/os/moment.ts": "tests/simulation/replacements/moment.ts",
  "lib/os/timers.ts": "tests/simulation/replacements/timers.ts",
  "lib/stores/open_rows.ts": "tests/simulation/replacements/open_rows.ts",
  "lib/sockets/endpoint.ts": "tests/simulation/replacements/endpoint.ts",
};

/** The import map of a simulation: that of deno.json, with the replacements. */
function importMap(): string {
  const config: { imports: Record<string, string> } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT)));
  const imports = Object.fromEntries(
    Object.entries(config.imports).map(([name, to]) => [name, to.startsWith("./") ? new URL(to, ROOT).href : to]),
  );
  // As deno.json expands them.
  for (const [name, to] of Object.entries(imports)) {
    if (to.startsWith("npm:") && !name.endsWith("/")) imports[`${name}/`] ??= `${to.replace("npm:", "npm:/")}/`;
  }
  for (const [real, simulated] of Object.entries(REPLACED)) {
    const to = new URL(simulated, ROOT).href;
    imports[`#${real}`] = to;
    imports[new URL(real, ROOT).href] = to;
  }
  return JSON.stringify({ imports });
}

/** What a simulation is asked for. Its program reads this as JSON from its standard input. */
export interface Simulation {
  readonly seeds: readonly number[];
  /** Jobs of each seed. */
  readonly jobs: number;
  /**
   * `trace`: prints what happens; `hash`: a number of each seed that differs if anything does; `first`: ends at the
   * first seed that breaks a promise. Default: none of them.
   */
  readonly output?: "trace" | "hash" | "first";
  /** Seconds after which no more seeds are begun. Default: no limit. */
  readonly seconds?: number;
}

/** A program that goes on for so long after its time is in a loop, in milliseconds. */
const LOOP_MS = 60_000;
/** The exit code of a program that was ended for that. */
export const LOOPS = 2;

/** Starts the program with the simulated modules. */
function startProgram(map: string): Deno.ChildProcess {
  const program = fromFileUrl(new URL("program.ts", import.meta.url));
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", `--import-map=${map}`, program],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

/**
 * Runs seeds.
 * @param onOutput Gets what the program prints, as it comes.
 * @returns Its exit code: 0; 1 if a promise was broken; {@linkcode LOOPS} if it did not end by itself in its time.
 */
async function runSimulation(simulation: Simulation, onOutput: (text: string) => void): Promise<number> {
  const map = Deno.makeTempFileSync({ suffix: ".json" });
  try {
    Deno.writeTextFileSync(map, importMap());
    const child = startProgram(map);
    const request = child.stdin.getWriter();
    await request.write(new TextEncoder().encode(JSON.stringify(simulation)));
    await request.close();
    const { seconds } = simulation;
    let loops = false;
    const late = seconds !== undefined && setTimeout(() => {
      loops = true;
      child.kill("SIGKILL");
    }, seconds * 1000 + LOOP_MS);
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) onOutput(text);
    const { code } = await child.status;
    if (late !== false) clearTimeout(late);
    return loops ? LOOPS : code;
  } finally {
    Deno.removeSync(map);
  }
}

/** Runs seeds; their exit code, and all that they print. */
export async function outputOf(simulation: Simulation): Promise<{ readonly code: number; readonly text: string }> {
  let text = "";
  const code = await runSimulation(simulation, (part) => text += part);
  return { code, text };
}

const USAGE = `deno task simulate [--seeds SEEDS] [--jobs N] [--seconds N] [--trace SEED | --hash | --first]
  --seeds    the seeds to run, as 1-1000, or 7,33,100-120 (default: 1-200)
  --jobs     jobs of each seed (default: 20)
  --seconds  begins no more seeds after this time
  --trace    prints everything that happens with one seed
  --hash     prints a number for each seed, which differs if anything happens otherwise
  --first    ends at the first seed that breaks a promise`;

async function main(args: string[]): Promise<number> {
  const { values } = parseOptions({
    args,
    options: {
      seeds: { type: "string", default: "1-200" },
      jobs: { type: "string", default: "20" },
      seconds: { type: "string" },
      trace: { type: "string" },
      hash: { type: "boolean", default: false },
      first: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const print = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(text));
  if (values.help) {
    print(`${USAGE}\n`);
    return 0;
  }
  const jobs = Number(values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1) throw new OptionError(`${values.jobs} is no number of jobs`);
  const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
  if (seconds !== undefined && !(seconds > 0)) throw new OptionError(`${values.seconds} is no number of seconds`);
  const output = values.trace !== undefined ? "trace" : values.hash ? "hash" : values.first ? "first" : undefined;
  const seeds = parseSeeds(values.trace ?? values.seeds);
  return await runSimulation({ seeds, jobs, output, ...seconds !== undefined && { seconds } }, print);
}

if (import.meta.main) await runScript(main, { name: "simulate", usage: USAGE });
