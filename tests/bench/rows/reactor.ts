/**
 * Rows: the reactor, which answers events with jobs.
 * @module
 */

import { masterBus } from "#lib/bus/paths.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { benchCommand, benchScript, type Side } from "#tests/bench/harness/sides.ts";
import { MS_TENTHS, PER_SECOND, type Row, type Stage } from "./row.ts";

const REACTION = "a:\n  local.test.arg:\n    - tgt: g1\n    - arg: [{{ data.n }}]\n";
const SINGLE = 40;
/** Number of events at once; Python's reactor gets a tenth of it. */
const TOGETHER = { ours: 3_000, python: 300 };

/** The accepted keys of a large fleet. */
const MANY_KEYS = 10_000;

/** A master with a reactor file, and the accepted keys of minions that never come. */
async function reacting(stage: Stage, side: Side, keys: number): Promise<Fleet> {
  return await stage.fleet(side, async (fleet) => {
    const file = `${fleet.root}/react.sls`, map = `${fleet.root}/reactor.conf`;
    Deno.writeTextFileSync(file, REACTION);
    Deno.writeTextFileSync(map, `- bench/react: ${file}\n`);
    fleet.setOptions({ reactor: map });
    await fleet.startMaster();
    for (let n = 1; n <= keys; n++) Deno.copyFileSync(`${fleet.pkiDir}/master.pub`, `${fleet.pkiDir}/minions/g${n}`);
  });
}

async function react(
  stage: Stage,
  side: Side,
  { single, together, keys = 1 }: { readonly single: number; readonly together: number; readonly keys?: number },
): Promise<{ readonly ms: number; readonly perSecond: number }> {
  const fleet = await reacting(stage, side, keys);
  const { pull, pub } = masterBus(fleet.sockDir);
  const program = side.python === undefined
    ? [...benchCommand("programs/reactor_load.ts"), pull, pub]
    : [side.python, benchScript("programs/reactor_load.py"), `${fleet.configDir}/master`];
  const { out } = await run([...program, String(single), String(together)]);
  const { ms, jobs, seconds } = JSON.parse(out);
  if (jobs !== together) stage.remarks.add(`${side.name}: ${jobs} of ${together} reactions published their jobs`);
  return { ms, perSecond: jobs / seconds };
}

function togetherOf({ python }: Side): number {
  return python === undefined ? TOGETHER.ours : TOGETHER.python;
}

export const REACTOR_ROWS: readonly Row[] = [
  {
    name: "reaction",
    title: "an event until the job of its reaction is published",
    unit: MS_TENTHS,
    group: "reactor",
    measure: async (stage, side) => (await react(stage, side, { single: SINGLE, together: 0 })).ms,
  },
  {
    name: "reactions",
    title: "reactions a second, each publishes a job, in a burst",
    unit: PER_SECOND,
    group: "reactor",
    measure: async (stage, side) => (await react(stage, side, { single: 1, together: togetherOf(side) })).perSecond,
  },
  {
    name: "reactions-keys",
    title: `the same with the accepted keys of ${MANY_KEYS} minions`,
    unit: PER_SECOND,
    group: "reactor of many",
    long: true,
    measure: async (stage, side) =>
      (await react(stage, side, { single: 1, together: togetherOf(side), keys: MANY_KEYS })).perSecond,
  },
];
