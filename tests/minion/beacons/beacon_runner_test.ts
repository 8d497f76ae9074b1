/**
 * The loop of beacons, with modules that fail, hang and are told of changes.
 * @module
 */

import { BeaconRunner } from "#lib/minion/beacons/beacon_runner.ts";
import type { BeaconHost, BeaconModule, BeaconTable } from "#lib/plugins/beacon.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

function run(modules: Record<string, BeaconModule["open"]>) {
  const table: BeaconTable = Object.fromEntries(
    Object.entries(modules).map(([name, open]) => [
      name,
      () => Promise.resolve({ beacon: { doc: "", validate: () => undefined, open } }),
    ]),
  );
  const sent: ValueMap[] = [], once: string[] = [];
  const runner = new BeaconRunner({
    id: "web1",
    loopMs: 50,
    permissions: "none",
    table,
    log: SILENT_LOGGER,
    call: () => Promise.resolve(null),
    send: (events) => void sent.push(...events),
    elsewhere: () => {},
    once: (name) => void once.push(name),
    mistake: () => {},
    begin: () => {},
  });
  const of = (name: string) => sent.filter((event) => event.get("tag") === `salt/beacon/web1/${name}/`);
  return { runner, sent, once, of };
}

const config = (beacons: Record<string, unknown>) => {
  const value: Value = toValue(beacons);
  assert(value instanceof Map);
  return value;
};

Deno.test("a beacon that hangs and one that fails hold up no other; an error is an event once", async () => {
  const { runner, of } = run({
    hangs: () => ({ look: () => new Promise<ValueMap[]>(() => {}) }),
    fails: () => ({ look: () => Promise.reject(new Error("no luck")) }),
    works: () => ({ look: () => [map({ n: 1 })] }),
  });
  await runner.configure(config({ hangs: [], fails: [], works: [] }));
  await eventually(() => of("works").length >= 3, { what: "three looks" });
  assertEquals(of("fails").map((event) => event.get("data")), [map({ error: "no luck", id: "web1" })]);
  runner.close();
});

Deno.test("an unchanged beacon goes on, a stopped one ends, run_once looks once", async () => {
  let opened = 0, closed = 0;
  const { runner, once, of } = run({
    counts: () => {
      opened++;
      return { look: () => [map({ n: opened })], close: () => void closed++ };
    },
  });
  await runner.configure(config({ counts: [{ interval: 1 }] }));
  await runner.configure(config({ counts: [{ interval: 1 }], other: [{ beacon_module: "nosuch" }] }));
  assertEquals([opened, closed], [1, 0]);
  await runner.configure(config({ counts: [{ interval: 1 }] }), { stopped: ["counts"] });
  assertEquals([opened, closed], [1, 1]);
  await runner.configure(config({ counts: [{ run_once: true }] }));
  await eventually(() => once.length > 0, { what: "the one look" });
  assertEquals([once, of("counts").length], [["counts"], 1]);
  runner.close();
});

Deno.test("what a beacon is told is sent at once, together within an interval, and not during a state run", async () => {
  const hosts = new Map<string, BeaconHost>();
  const open = (_config: unknown, host: BeaconHost) => {
    hosts.set(host.name, host);
    return {};
  };
  const { runner, of, sent } = run({ told: open });
  const told = { beacon_module: "told" };
  await runner.configure(
    config({
      now: [told],
      later: [told, { interval: "100ms" }],
      quiet: [told, { disable_during_state_run: true }],
    }),
  );
  hosts.get("now")?.fire([map({ n: 1 })]);
  hosts.get("later")?.fire([map({ n: 1 })]);
  hosts.get("later")?.fire([map({ n: 2 })]);
  runner.stateRun = true;
  hosts.get("quiet")?.fire([map({ n: 1 })]);
  assertEquals([of("now").length, of("later").length, of("quiet").length], [1, 0, 0]);
  await eventually(() => of("later").length === 2, { what: "both together" });
  runner.stateRun = false;
  hosts.get("quiet")?.fire([map({ n: 1, tag: "a/\nb" })]);
  assertEquals(sent.at(-1)?.get("tag"), "salt/beacon/web1/quiet/a/?b");
  runner.close();
});
