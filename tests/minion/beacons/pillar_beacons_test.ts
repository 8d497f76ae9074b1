/**
 * Beacons that a minion's pillar configures, and beacons that are quiet while states run, on a real minion.
 * @module
 */

import type { EventSubscriber } from "#lib/bus/subscriber.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const STOPPED = "processes: {nobody-has-this: stopped}";
const PILLAR = `
beacons:
  noisy:
    - beacon_module: ps
    - ${STOPPED}
  quiet:
    - beacon_module: ps
    - ${STOPPED}
    - disable_during_state_run: true
  broken: {no: list, interval: never}
`;

async function call(fleet: Fleet, ...words: string[]): Promise<Value> {
  const answers = await fleet.saltJson("m1", ...words);
  return isMap(answers) ? answers.get("m1") ?? null : null;
}

/** The names of the beacons whose events come within a time. */
async function heard(events: EventSubscriber, ms: number): Promise<string[]> {
  const names: string[] = [], end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) {
    const event = await events.next(left);
    if (event !== undefined) names.push(event.tag.split("/")[3]);
  }
  return names;
}

Deno.test("beacons of pillar run, cannot be changed by functions, and end with the pillar", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/top.sls`, "base: {'*': [b]}\n");
    Deno.writeTextFileSync(`${root}/b.sls`, PILLAR);
    const minion = { beacons: { own: [{ beacon_module: "ps" }, { processes: { "nobody-has-this": "stopped" } }] } };
    await using fleet = await startFleet({ minions: ["m1"], master: { pillar_roots: { base: [root] } }, minion });
    using events = await fleet.listen("salt/beacon/m1/");
    const known = new Set<string>();
    await eventually(async () => {
      for (const name of await heard(events, 1_000)) known.add(name);
      return known.size >= 3;
    }, { what: "three beacons" });
    assertEquals([...known].sort(), ["noisy", "own", "quiet"]);
    const refusal = await call(
      fleet,
      "beacons.modify",
      "noisy",
      '[{"processes": {"x": "stopped"}}, {"beacon_module": "ps"}]',
    );
    assert(isMap(refusal));
    assertEquals(refusal.get("result"), false);
    assertStringIncludes(str(refusal.get("comment") ?? null), "it is configured in pillar.");
    assertEquals(
      await call(fleet, "beacons.delete", "quiet"),
      map({ comment: "Cannot delete beacon item quiet, it is configured in pillar.", result: false }),
    );
    // While a job runs states, only the one that is not to be quiet is heard.
    const states = call(fleet, "state.single", "cmd.run", "sleep 6");
    await heard(events, 2_500);
    const during = await heard(events, 2_500);
    assert(during.includes("noisy") && during.includes("own"), during.join());
    assert(!during.includes("quiet"), during.join());
    await states;
    await heard(events, 1_500);
    assert((await heard(events, 3_000)).includes("quiet"));
    Deno.writeTextFileSync(`${root}/b.sls`, "{}\n");
    assertEquals(await call(fleet, "saltutil.refresh_pillar"), true);
    await heard(events, 3_000);
    assertEquals([...new Set(await heard(events, 3_000))], ["own"]);
    assertEquals(fleet.logs.filter((line) => line.includes("Beacon broken")).length, 1);
  });
});
