/** The pillars of a minion's masters, of which some give none. */

import { RequestTimeoutError } from "#lib/errors.ts";
import { GrainsAndPillar } from "#lib/minion/agent/grains_and_pillar.ts";
import type { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import { Masters } from "#lib/minion/masters/masters.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

/** Masters by their hosts, each with its pillar; `undefined`: it does not answer. */
function knownOf(pillars?: Readonly<Record<string, ValueMap | undefined>>) {
  const { log, lines } = memoryLog(), taken: ValueMap[] = [];
  const all = Object.entries(pillars ?? {}).map(([host, pillar]) => ({
    master: { host, port: 4506 },
    connected: true,
    requestPillar: () =>
      pillar === undefined ? Promise.reject(new RequestTimeoutError(host, 1)) : Promise.resolve(pillar),
  }));
  const masters = pillars && new Masters(all as unknown as MasterConnection[]);
  const known = new GrainsAndPillar({
    opts: testOpts(),
    log,
    masters: () => masters,
    passHostData: () => {},
    passPillar: (pillar) => void taken.push(pillar),
  });
  return { known, taken, errors: () => lines.filter((line) => line.startsWith("ERROR")) };
}

Deno.test("a master that gives no pillar is named, and the pillar of another one is used; if none gives one it is an error", async () => {
  const one = knownOf({ a: undefined, b: map({ from: "b" }) });
  await one.known.refreshPillar();
  assertEquals([one.known.pillar, one.taken.length, one.errors().length], [map({ from: "b" }), 1, 1]);
  assertEquals(one.errors()[0].startsWith("ERROR A master gave no pillar: "), true, one.errors()[0]);
  await assertRejects(() => knownOf({ a: undefined, b: undefined }).known.refreshPillar(), RequestTimeoutError);
});

Deno.test("a minion without a master, which compiles none itself, has no pillar", async () => {
  const { known, taken, errors } = knownOf();
  await known.refreshPillar();
  assertEquals([known.pillar, taken, errors()], [map({}), [], []]);
});
