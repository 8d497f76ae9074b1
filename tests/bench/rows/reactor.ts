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

/** A master with a reactor file, and the accepted key of a minion that never comes. */
async function reacting(stage: Stage, side: Side): Promise<Fleet> {
  return await stage.fleet(side, async (fleet) => {
    const file = `${fleet.root}/react.sls`, map = `${fleet.root}/reactor.conf`;
    Deno.writeTextFileSync(file, REACTION);
    Deno.writeTextFileSync(map, `- bench/react: ${file}\n`);
    fleet.setOptions({ reactor: map });
    await fleet.startMaster();
    Deno.copyFileSync(`${fleet.pkiDir}/master.pub`, `${fleet.pkiDir}/minions/g1`);
  });
}

async function react(stage: Stage, side: Side, single: number, together: number) {
  const fleet = await reacting(stage, side);
  const { pull, pub } = masterBus(fleet.sockDir);
  const program = side.python === undefined
    ? [...benchCommand("programs/reactor_load.ts"), pull, pub]
    : [side.python, benchScript("programs/reactor_load.py"), `${fleet.configDir}/master`];
  const { out } = await run([...program, String(single), String(together)]);
  const { ms, jobs, seconds } = JSON.parse(out);
  if (jobs !== together) stage.remarks.add(`${side.name}: ${jobs} of ${together} reactions published their jobs`);
  return { ms, perSecond: jobs / seconds };
}

export const REACTOR_ROWS: readonly Row[] = [
  {
    name: "reaction",
    title: "an event until the job of its reaction is published",
    unit: MS_TENTHS,
    group: "reactor",
    measure: async (stage, side) => (await react(stage, side, SINGLE, 0)).ms,
  },
  {
    name: "reactions",
    title: "reactions a second, each publishes a job, in a burst",
    unit: PER_SECOND,
    group: "reactor",
    measure: async (stage, side) =>
      (await react(stage, side, 1, side.python === undefined ? TOGETHER.ours : TOGETHER.python)).perSecond,
  },
];
