/**
 * `deno task bench-starts`: measures the start times of the executables' commands as multiples of `deno run` of an
 * empty file, alternating in one run.
 *
 * The whole process is measured, with launcher and end: processor time (user and system, of the command and its
 * children) and wall time. It reports the smallest figure and the median. The executables are built first, as packed
 * files, and have a fleet of their own.
 * @module
 */

import { DemoFleet } from "#scripts/fleet/demo_fleet.ts";
import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";
import { writeOut } from "#lib/commands/cli/process_io.ts";
import { LibcError } from "#lib/errors.ts";
import { median } from "#tests/bench/harness/statistics.ts";

const USAGE = `Usage: deno task bench-starts [options]

  --runs N    Runs of each command. Default: 21.
  --dist DIR  Executables that are built already.
`;

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** Time limit for the start of the fleet, in milliseconds. */
const FLEET_MS = 120_000;

/** The target ratios of processor time, by command. */
const BARS: Readonly<Record<string, number>> = {
  "salt --version": 1.2,
  "salt-call --local test.ping": 1.8,
  "salt web1 test.ping": 2.2,
};

/** The times of one run, in milliseconds. */
interface Took {
  readonly cpu: number;
  readonly wall: number;
}

const libc = Deno.dlopen(Deno.build.os === "darwin" ? "libSystem.B.dylib" : "libc.so.6", {
  getrusage: { parameters: ["i32", "buffer"], result: "i32" },
});

/** The processor time of all children that have ended, in milliseconds. Source: getrusage(2). */
function childrenMs(): number {
  const usage = new BigInt64Array(18);
  if (libc.symbols.getrusage(-1, new Uint8Array(usage.buffer)) !== 0) throw new LibcError("getrusage");
  const [userSeconds, userMicros, systemSeconds, systemMicros] = usage;
  // The high half of a 32-bit field is undefined.
  const micros = (field: bigint) => Number(BigInt.asIntN(32, field));
  return Number(userSeconds + systemSeconds) * 1000 + (micros(userMicros) + micros(systemMicros)) / 1000;
}

/**
 * Runs a command to its end.
 * @throws {Error} If it fails.
 */
async function run([command, ...args]: readonly string[]): Promise<Took> {
  const before = childrenMs();
  const started = performance.now();
  const { success, stderr } = await new Deno.Command(command, { args, stdin: "null", stdout: "null" }).output();
  const wall = performance.now() - started;
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return { cpu: childrenMs() - before, wall };
}

/** The table, one line for each command. */
function tableOf(figures: ReadonlyMap<string, readonly Took[]>): string {
  const [[, bare]] = figures;
  const lines = [...figures].map(([name, runs]) => {
    const cell = (of: (took: Took) => number) => {
      const [min, middle] = [Math.min(...runs.map(of)), median(runs.map(of))];
      const ratios = [min / Math.min(...bare.map(of)), middle / median(bare.map(of))];
      return `${min.toFixed(1)} / ${middle.toFixed(1)} | ${ratios.map((ratio) => ratio.toFixed(2)).join(" / ")}`;
    };
    return `| \`${name}\` | ${cell(({ cpu }) => cpu)} | ${cell(({ wall }) => wall)} | ${BARS[name] ?? ""} |\n`;
  });
  return "| smallest / median | processor time, ms | ratio | wall time, ms | ratio | bar |\n" +
    `| --- | --- | --- | --- | --- | --- |\n${lines.join("")}`;
}

async function main(argv: string[]): Promise<void> {
  const { values: options } = parseOptions({
    args: argv,
    options: {
      runs: { type: "string", default: "21" },
      dist: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (options.help) return writeOut(USAGE);
  const runs = Number(options.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new OptionError("--runs must be a positive number");
  const directory = await Deno.makeTempDir({ prefix: "starts_" });
  // For root the launcher then also checks the directories above it: 1 ms more than with its default directory.
  const unpacked = `${directory}/unpacked`;
  await Deno.mkdir(unpacked, { mode: 0o700 });
  Deno.env.set("SALT_UNPACK_DIR", unpacked);
  try {
    const dist = options.dist ?? `${directory}/dist`;
    if (options.dist === undefined) {
      await run([Deno.execPath(), "run", "-A", "--quiet", `${ROOT}/scripts/build/build.ts`, "--pack", "--out", dist]);
    }
    const empty = `${directory}/empty.ts`;
    await Deno.writeTextFile(empty, "");
    const signal = AbortSignal.timeout(FLEET_MS);
    const fleet = await DemoFleet.make({ root: `${directory}/f`, dist, project: ROOT });
    try {
      await fleet.start(signal);
      await fleet.keysPending(signal);
      await fleet.run(["salt-key", "-y", "-A"], signal);
      await fleet.signedIn(signal);
      const master = ["-c", `${directory}/f/master/etc/salt`];
      const minion = ["-c", `${directory}/f/web1/etc/salt`];
      const commands: readonly (readonly [name: string, words: readonly string[]])[] = [
        ["deno run empty.ts", [Deno.execPath(), "run", empty]],
        ["salt --version", [`${dist}/salt`, "--version"]],
        ["salt-key -L", [`${dist}/salt-key`, ...master, "-L"]],
        ["salt-call --local test.ping", [`${dist}/salt-call`, ...minion, "--local", "test.ping"]],
        ["salt web1 test.ping", [`${dist}/salt`, ...master, "web1", "test.ping"]],
      ];
      const figures = new Map(commands.map(([name]) => [name, [] as Took[]]));
      for (let i = -1; i < runs; i++) {
        for (const [name, words] of commands) {
          const took = await run(words);
          // The first round fills caches.
          if (i >= 0) figures.get(name)?.push(took);
        }
      }
      writeOut(tableOf(figures));
    } finally {
      await fleet.stop();
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

if (import.meta.main) await runScript(main, { name: "starts" });
