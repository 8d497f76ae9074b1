/**
 * Mixed load for minutes, with a few faults in it: whether the memory of master and minions grows.
 * @module
 */

import { treeMemory } from "../bench/process_figures.ts";
import { sleep } from "../lib/sleep.ts";
import { eventually } from "../tests/eventually.ts";
import { echo, ended } from "./disk.ts";
import type { Fault, Figure } from "./fault.ts";
import { NumberedJobs } from "./numbered_jobs.ts";
import { answers } from "./pings.ts";
import { ProcessFleet } from "./process_fleet.ts";

const SHORT = { ms: 20_000, minions: 2 };
const LONG = { ms: 12 * 60_000, minions: 6 };
/** `SOAK_MINUTES=600 deno task chaos --only soak` */
const MINUTES = Number(Deno.env.get("SOAK_MINUTES") ?? 0);
/** How often the load rests, and for how long: by then every thread has collected its garbage (`lib/idle_memory.ts`). */
const SAMPLE_MS = 20_000;
const REST_MS = 3_000;
/** The part of the time in which everything gets warm, and is not measured. */
const WARM = 0.4;
/**
 * What the memory at rest may grow by in the measured part, along the line through the samples, in MiB. In runs of twelve
 * minutes single samples were up to 6 MiB from that line, which makes 4 MiB an accident; a hundredth of what the jobs of that time
 * move would be more.
 */
const GROWTH = 8;

interface Sample {
  readonly hours: number;
  readonly mib: number;
}

/** See {@linkcode Fault}. */
export const soak: Fault = {
  name: "soak",
  what: "mixed load for twelve minutes: commands, pings, broken jobs, runners, minions that come and go",
  promise: "the memory of master and minions does not grow; nothing is lost",
  async run({ long, random, say }): Promise<Figure[]> {
    const { ms, minions } = MINUTES > 0 ? { ms: MINUTES * 60_000, minions: LONG.minions } : long ? LONG : SHORT;
    await using fleet = await ProcessFleet.start({ minions, master: { loop_interval: 10 } });
    using jobs = await NumberedJobs.make(fleet);
    const samples = { master: [] as Sample[], minion: [] as Sample[] };
    const started = performance.now();
    const passed = () => performance.now() - started;
    const sample = async () => {
      await sleep(REST_MS);
      const hours = passed() / 3_600_000;
      samples.master.push({ hours, mib: treeMemory(fleet.master.pid).rssKb / 1024 });
      samples.minion.push({ hours, mib: treeMemory(fleet.minion(fleet.ids[0]).pid).rssKb / 1024 });
    };
    let rounds = 0, wrong = 0;
    for (let told = 0, sampled = 0; passed() < ms; rounds++) {
      for (let i = 0; i < 5; i++) await jobs.publish([random.pick(fleet.ids)], random.int(300) / 1_000);
      if (await answers(fleet, "*", minions, 10_000) < minions) wrong++;
      if (rounds % 5 === 0 && await echo(fleet, "hello") < minions) wrong++;
      if (rounds % 7 === 0) await fleet.salt("salt", "*", "no.such_function");
      if (rounds % 11 === 0) await fleet.salt("salt-run", "jobs.list_jobs");
      if (rounds % 13 === 0) await comeAndGo(fleet, fleet.ids[minions - 1]);
      if (rounds % 17 === 0) await fleet.salt("salt-run", "manage.status");
      await sleep(random.int(300));
      if (passed() > sampled) {
        await sample();
        sampled = passed() + SAMPLE_MS;
      }
      if (passed() > told) {
        say(`${rounds} rounds; at rest master ${last(samples.master)} MiB, minion ${last(samples.minion)} MiB`);
        told += 60_000;
      }
    }
    await eventually(() => jobs.outstanding === 0, { withinMs: 60_000, what: "the returns", everyMs: 200 }).catch(
      () => {},
    );
    // In seconds there is only warming up: what grows then says nothing.
    const bound = long ? { atMost: GROWTH } : {};
    const measured = ms * (1 - WARM) / 3_600_000;
    return [
      { name: "minutes", value: Math.round(ms / 6_000) / 10 },
      { name: "rounds", value: rounds },
      { name: "master, MiB at the end", value: last(samples.master), atMost: 250 },
      { name: "minion, MiB at the end", value: last(samples.minion), atMost: 200 },
      { name: "master, slope in MiB an hour", value: slope(samples.master) },
      { name: "minion, slope in MiB an hour", value: slope(samples.minion) },
      {
        name: "master, growth in the measured part, MiB",
        value: Math.round(slope(samples.master) * measured),
        ...bound,
      },
      {
        name: "minion, growth in the measured part, MiB",
        value: Math.round(slope(samples.minion) * measured),
        ...bound,
      },
      { name: "questions not answered by all", value: wrong, atMost: 0 },
      { name: "processes that ended", value: ended(fleet), atMost: 0 },
      ...jobs.figures(),
    ];
  },
};

async function comeAndGo(fleet: ProcessFleet, id: string): Promise<void> {
  await fleet.stopMinion(id);
  await fleet.startMinion(id);
  await eventually(async () => await answers(fleet, id, 1, 5_000) === 1, {
    withinMs: 30_000,
    what: `${id} to be back`,
  });
}

function last(samples: readonly Sample[]): number {
  return Math.round(samples.at(-1)?.mib ?? 0);
}

/** The slope of the line through the samples of the later part, by least squares. */
function slope(samples: readonly Sample[]): number {
  const warm = samples.slice(Math.floor(samples.length * WARM));
  if (warm.length < 2) return 0;
  const mean = (of: (sample: Sample) => number) => warm.reduce((sum, sample) => sum + of(sample), 0) / warm.length;
  const [hours, mib] = [mean((sample) => sample.hours), mean((sample) => sample.mib)];
  const covariance = mean((sample) => (sample.hours - hours) * (sample.mib - mib));
  const variance = mean((sample) => (sample.hours - hours) ** 2);
  return Math.round(covariance / variance);
}
