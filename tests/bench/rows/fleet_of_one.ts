/**
 * Rows: a master and one real minion, at rest and with one job.
 * @module
 */

import { bareRoundTrip } from "#tests/bench/programs/bare_round_trip.ts";
import { installed } from "./executables.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { treeCpuMs, treeMemory } from "#tests/bench/harness/process_figures.ts";
import { jobLatency, LATENCY_JOBS } from "#tests/bench/programs/job_latency.ts";
import type { Service } from "#tests/support/processes.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { MB, MS, MS_TENTHS, PERCENT, type Row, type Stage } from "./row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";

const MINION = "bench-1";
const GROUP = "fleet of one";
/** Time for which processes at rest are measured, in milliseconds. */
const WATCH_MS = 60_000;
/**
 * Time after which an idle service counts as at rest, in milliseconds: half a minute after the last work V8 collects
 * the garbage of every thread once more, and this still belongs to the work.
 */
const SETTLE_MS = 45_000;

interface Running {
  readonly fleet: Fleet;
  readonly minion: Service;
}

const minions = new WeakMap<Fleet, Service>();
const restedFleets = new WeakSet<Fleet>();

async function running(stage: Stage, side: Side): Promise<Running> {
  const fleet = await stage.fleet(side, async (fleet) => {
    await fleet.startMaster();
    minions.set(fleet, await fleet.startMinion(MINION));
    await fleet.warmUp("*", 1);
  });
  const minion = minions.get(fleet);
  if (minion === undefined) throw new Error("the fleet has no minion");
  return { fleet, minion };
}

async function idleFleet(stage: Stage, side: Side): Promise<Running> {
  const all = await running(stage, side);
  if (!restedFleets.has(all.fleet)) await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  restedFleets.add(all.fleet);
  return all;
}

/** The share of a processor that master and minion use, both measured once, at the same time. */
interface AtRest {
  readonly master: number;
  readonly minion: number;
}

const watched = new WeakMap<Fleet, Promise<AtRest>>();

async function cpuPercent(stage: Stage, side: Side): Promise<AtRest> {
  const { fleet, minion } = await idleFleet(stage, side);
  const known = watched.get(fleet);
  if (known !== undefined) return await known;
  const watch = (async () => {
    const used = () => ({ master: treeCpuMs(fleet.master.pid), minion: treeCpuMs(minion.pid) });
    const [before, started] = [used(), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
    const [after, ms] = [used(), performance.now() - started];
    return {
      master: (after.master - before.master) / ms * 100,
      minion: (after.minion - before.minion) / ms * 100,
    };
  })();
  watched.set(fleet, watch);
  return await watch;
}

export const FLEET_OF_ONE_ROWS: readonly Row[] = [
  {
    name: "cli",
    title: "`salt minion test.ping`, whole process, 1 minion",
    unit: MS,
    group: GROUP,
    async measure(stage, side) {
      const { fleet } = await running(stage, side);
      return (await run([...fleet.words("salt", await installed(side)), MINION, "test.ping"])).ms;
    },
    limit: bareRoundTrip,
  },
  {
    name: "latency",
    title: `job: publish sent → return event, 1 minion (median of ${LATENCY_JOBS})`,
    unit: MS_TENTHS,
    group: GROUP,
    measure: async (stage, side) => await jobLatency((await running(stage, side)).fleet, MINION),
  },
  ...(["rss", "pss"] as const).flatMap((kind): Row[] => [
    {
      name: `master-${kind}`,
      title: `master at rest, 5 workers, process tree: ${kind.toUpperCase()}`,
      unit: MB,
      group: GROUP,
      runs: 1,
      measure: async (stage, side) => treeMemory((await idleFleet(stage, side)).fleet.master.pid)[`${kind}Kb`] / 1024,
    },
    {
      name: `minion-${kind}`,
      title: `minion at rest, process tree: ${kind.toUpperCase()}`,
      unit: MB,
      group: GROUP,
      runs: 1,
      measure: async (stage, side) => treeMemory((await idleFleet(stage, side)).minion.pid)[`${kind}Kb`] / 1024,
    },
  ]),
  {
    name: "master-cpu",
    title: `master at rest: processor time over ${WATCH_MS / 1000} s`,
    unit: PERCENT,
    group: GROUP,
    runs: 1,
    long: true,
    measure: async (stage, side) => (await cpuPercent(stage, side)).master,
  },
  {
    name: "minion-cpu",
    title: `minion at rest: processor time over ${WATCH_MS / 1000} s`,
    unit: PERCENT,
    group: GROUP,
    runs: 1,
    long: true,
    measure: async (stage, side) => (await cpuPercent(stage, side)).minion,
  },
];
