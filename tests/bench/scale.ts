/**
 * `deno task scale`: a cluster of real masters over PostgreSQL with simulated minions by the ten thousand, and the
 * processor time and memory of each part.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import { ClusterSwarm, type SiteTimes } from "#tests/bench/fleets/cluster_swarm.ts";
import { removeRoots } from "#tests/bench/fleets/fleet.ts";
import { thisMachine } from "#tests/bench/harness/machine.ts";
import { endedCpuMs } from "#tests/bench/harness/process_figures.ts";
import { combined, type PartTimes } from "#tests/bench/harness/thread_times.ts";
import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const USAGE = `Usage: deno task scale [options]

Starts PostgreSQL, a cluster of masters and simulated minions on this machine, runs test.ping on all minions, and prints
the processor time and the memory of each part.

  --minions N   Default: 1000.
  --masters N   At 127.0.0.1, 127.0.0.2, …. Default: 3.
  --jobs N      How many jobs are measured, after one that is not. Default: 3.
  --rest S      How many seconds at rest are measured. Default: 20.
  --help        Show this.
`;

/** What was measured. Times are processor time in milliseconds, memory is PSS in KiB. */
export interface ScaleFigures {
  readonly minions: number;
  readonly masters: number;
  readonly jobs: number;
  readonly restS: number;
  /** How many minions answered each job. */
  readonly answered: readonly number[];
  /** Wall time of each job. */
  readonly jobMs: readonly number[];
  readonly signInMs: number;
  readonly signIn: PartTimes;
  readonly rest: PartTimes;
  /** Of all jobs together. */
  readonly ping: PartTimes;
  /** Memory at rest by part, before and after the minions came. */
  readonly memory: ReadonlyMap<string, readonly [before: number, after: number]>;
}

/** Measures a cluster. */
export async function measureScale(
  { minions, masters, jobs, restS, progress }: {
    readonly minions: number;
    readonly masters: number;
    readonly jobs: number;
    readonly restS: number;
    progress(text: string): void;
  },
): Promise<ScaleFigures> {
  progress(`${masters} masters start, with ${minions} accepted keys`);
  await using site = await ClusterSwarm.start({ masters, minions });
  const spent = async (work: () => Promise<void>): Promise<PartTimes> => {
    const [before, endedBefore] = [site.times, endedCpuMs()];
    await work();
    return difference(site.times, before).set("client (salt)", endedCpuMs() - endedBefore);
  };
  const before = site.memory;
  progress("the minions sign in");
  const started = performance.now();
  const signIn = await spent(() => site.signIn());
  const signInMs = performance.now() - started;
  progress(`signed in after ${Math.round(signInMs)} ms; the first job`);
  await site.ping();
  progress(`${restS} s at rest`);
  const rest = await spent(() => sleep(restS * 1000));
  const answered: number[] = [], jobMs: number[] = [];
  const ping = await spent(async () => {
    for (let i = 0; i < jobs; i++) {
      const job = await site.ping();
      progress(`job ${i + 1}: ${job.answered} of ${minions} answered, ${Math.round(job.ms)} ms`);
      answered.push(job.answered);
      jobMs.push(job.ms);
    }
  });
  const after = site.memory;
  const memory = new Map(
    (["masters", "database", "swarm"] as const).map((part) => [part, [before[part], after[part]]] as const),
  );
  return { minions, masters, jobs, restS, answered, jobMs, signInMs, signIn, rest, ping, memory };
}

function difference(after: SiteTimes, before: SiteTimes): Map<string, number> {
  const times = [...combined(after.masters, before.masters, -1)].sort(([, a], [, b]) => b - a);
  return new Map([
    ...times.map(([part, ms]) => [`masters: ${part}`, ms] as const),
    ["database", after.database - before.database],
    ["minions (simulated)", after.swarm - before.swarm],
  ]);
}

/** The figures as Markdown. */
export function scaleText(figures: ScaleFigures): string {
  const { minions, masters, jobs, restS, answered, jobMs, signInMs, signIn, rest, ping, memory } = figures;
  const { date, processors, processor, loadBefore, memoryGb } = thisMachine();
  const ms = (figure: number) => figure.toFixed(figure < 10 ? 2 : 0);
  const total = (times: PartTimes) => [...times.values()].reduce((a, b) => a + b, 0);
  const rows = [...ping].sort(([, a], [, b]) => b - a).map(([part, spent]) => [
    part,
    ms((signIn.get(part) ?? 0) / minions * 1000),
    ms(spent / jobs / minions * 1000),
    `${Math.round(100 * spent / total(ping))} %`,
    ((rest.get(part) ?? 0) / restS / 10).toFixed(2),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const memoryLine = ([part, [before, after]]: readonly [string, readonly [number, number]]) =>
    line([part, (before / 1024).toFixed(0), (after / 1024).toFixed(0), ((after - before) / minions).toFixed(1)]);
  return [
    `${minions} simulated minions, ${masters} masters, PostgreSQL with its syncs; ${date.slice(0, 16)} UTC, `,
    `${processors} × ${processor}, ${memoryGb} GB, load before ${loadBefore.toFixed(2)}. `,
    `Sign-in of all: ${(signInMs / 1000).toFixed(1)} s. test.ping of all: `,
    `${jobMs.map((each, i) => `${answered[i]} answers in ${(each / 1000).toFixed(1)} s`).join(", ")}.\n\n`,
    line([
      "processor time",
      "ms for 1,000 sign-ins",
      "ms for 1,000 returns of `test.ping`",
      "share",
      "% of a processor at rest",
    ]),
    "| --- | --- | --- | --- | --- |\n",
    ...rows.map(line),
    "\n",
    line(["memory (PSS)", "MB before", "MB after", "KB for each minion"]),
    "| --- | --- | --- | --- |\n",
    ...[...memory].map(memoryLine),
  ].join("");
}

/** @returns The exit code: 1 if a minion has not answered. */
async function main(args: string[]): Promise<number> {
  const { values } = parseOptions({
    args,
    options: {
      minions: { type: "string", default: "1000" },
      masters: { type: "string", default: "3" },
      jobs: { type: "string", default: "3" },
      rest: { type: "string", default: "20" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    say(USAGE);
    return 0;
  }
  const figures = await measureScale({
    minions: number("minions", values.minions),
    masters: number("masters", values.masters),
    jobs: number("jobs", values.jobs),
    restS: number("rest", values.rest),
    progress: (text) => Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`)),
  }).finally(removeRoots);
  say(scaleText(figures));
  return figures.answered.every((count) => count === figures.minions) ? 0 : 1;
}

function number(name: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new OptionError(`--${name}: ${text} is no number from 1`);
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

if (import.meta.main) await runScript(main, { name: "scale", usage: USAGE });
