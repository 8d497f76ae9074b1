/**
 * Cuts the link between master and minions in several ways, while jobs run, and measures how soon all minions are back.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Fault, FaultRun, Figure } from "#tests/chaos/harness/fault.ts";
import { Network } from "#tests/chaos/harness/network.ts";
import { NumberedJobs } from "#tests/chaos/harness/numbered_jobs.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

/** Reconnection by default: tries at most 11 s apart. */
const DEFAULTS = { recon_default: 1_000, recon_max: 10_000 };
/** The time until the system's probes fail, plus the time until a busy machine has processed the change. */
const NOTICED_MS = 22_000;
/** The longest wait between two tries to connect, plus the time of a try. */
const BACK_MS = 20_000;
const SETTLE_MS = 90_000;

type Cut = "cut" | "swallow";

async function outage(
  { random, say }: FaultRun,
  cuts: readonly { readonly how: Cut; readonly ms: number; readonly gone?: true }[],
): Promise<Figure[]> {
  using network = Network.make();
  const [minions, perCut] = [4, 12];
  await using fleet = await ProcessFleet.start({ minions, places: network.places(), minion: DEFAULTS });
  using jobs = await NumberedJobs.make(fleet);
  const figures: Figure[] = [];
  for (const { how, ms, gone } of cuts) {
    const what = `${how === "cut" ? "cut" : "black hole"} for ${ms / 1000} s`;
    say(what);
    const publish = async (count: number) => {
      for (let i = 0; i < count; i++) await jobs.publish([random.pick(fleet.ids)], random.int(2_000) / 1_000);
    };
    await publish(perCut / 2);
    network[how]();
    const began = performance.now();
    await publish(perCut / 2);
    if (gone) {
      const away = eventually(() => fleet.present().length === 0, {
        withinMs: 60_000,
        what: "the master to notice",
        everyMs: 100,
      });
      await away;
      figures.push({
        name: `${what}: noticed after, ms`,
        value: Math.round(performance.now() - began),
        atMost: NOTICED_MS,
      });
      figures.push({ name: `${what}: manage.present names`, value: await named(fleet, "present"), atMost: 0 });
    }
    if (gone) {
      figures.push({
        name: `${what}: manage.not_present names`,
        value: await named(fleet, "not_present"),
        atLeast: minions,
      });
    }
    await sleep(Math.max(0, ms - (performance.now() - began)));
    if (how === "cut") network.mend();
    else network.pass();
    const mended = performance.now();
    const whole = () => fleet.present().length === minions && jobs.outstanding === 0;
    await eventually(whole, { withinMs: SETTLE_MS, what: "all to be back", everyMs: 50 }).catch(() => {});
    figures.push({
      name: `${what}: all back, and every return, ms`,
      value: Math.round(performance.now() - mended),
      atMost: BACK_MS,
    });
  }
  return [...figures, ...jobs.figures()];
}

async function named(fleet: ProcessFleet, list: "present" | "not_present"): Promise<number> {
  const { code, out, err } = await fleet.salt("salt-run", "--out=json", `manage.${list}`);
  if (code !== 0) throw new Error(`manage.${list} fails: ${out}${err}`);
  return (out.match(/"m\d/g) ?? []).length;
}

/** See {@linkcode Fault}. */
export const cutLink: Fault = {
  name: "cut-link",
  what: "the wire between master and minions is cut, while jobs run",
  promise: "all are back within the longest wait between two tries; nothing is lost, nothing runs twice",
  missing: () => Network.missing(),
  run: (run) =>
    outage(
      run,
      run.long
        ? [{ how: "cut", ms: 1_000 }, { how: "cut", ms: 30_000 }, { how: "cut", ms: 90_000, gone: true }]
        : [{ how: "cut", ms: 1_000 }, { how: "cut", ms: 4_000 }],
    ),
};

/** See {@linkcode Fault}. */
export const blackHole: Fault = {
  name: "black-hole",
  what: "packets between master and minions are dropped silently, while jobs run",
  promise: "probes detect it: presence is correct within 20 s; afterwards as with a cut",
  missing: () => Network.missing(),
  run: (run) =>
    outage(
      run,
      run.long
        ? [{ how: "swallow", ms: 5_000 }, { how: "swallow", ms: 30_000, gone: true }, {
          how: "swallow",
          ms: 120_000,
          gone: true,
        }]
        : [{ how: "swallow", ms: 22_000, gone: true }],
    ),
};
