/**
 * The loop of beacons, with modules that fail, hang and are told of changes.
 * @module
 */

import { BeaconRunner } from "#lib/minion/beacons/beacon_runner.ts";
import type { BeaconHost, BeaconModule, BeaconTable } from "#lib/plugins/beacon.ts";
import { map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

function run(modules: Record<string, BeaconModule["open"]>, validate: BeaconModule["validate"] = () => undefined) {
  const table: BeaconTable = Object.fromEntries(
    Object.entries(modules).map(([name, open]) => [
      name,
      () => Promise.resolve({ beacon: { doc: "", validate, open } }),
    ]),
  );
  const sent: ValueMap[] = [], once: string[] = [], mistakes: string[] = [];
  const { log, lines } = memoryLog();
  const runner = new BeaconRunner({
    id: "web1",
    loopMs: 50,
    permissions: "none",
    table,
    log,
    call: () => Promise.resolve(null),
    send: (events) => void sent.push(...events),
    elsewhere: () => {},
    once: (name) => void once.push(name),
    mistake: (name, text) => void mistakes.push(`${name}: ${text}`),
    begin: () => {},
  });
  const of = (name: string) => sent.filter((event) => event.get("tag") === `salt/beacon/web1/${name}/`);
  return { runner, sent, once, of, mistakes, lines };
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

Deno.test("a configuration that comes while a beacon is loaded neither begins it twice nor leaves it running", async () => {
  let opened = 0, closed = 0;
  const hosts: BeaconHost[] = [];
  const { runner, of } = run({
    told: (_config, host) => {
      opened++;
      hosts.push(host);
      return { close: () => void closed++ };
    },
  });
  // As when two beacons are added one right after the other, while their thread starts.
  await Promise.all([runner.configure(config({ told: [] })), runner.configure(config({ told: [] }))]);
  assertEquals([opened, closed], [1, 0]);
  for (const host of hosts) host.fire([map({ n: 1 })]);
  assertEquals(of("told").length, 1);
  const again = config({ told: [{ interval: 1 }] });
  await Promise.all([runner.configure(again), runner.configure(config({}))]);
  assertEquals([opened, closed], [1, 1]);
  await Promise.all([runner.configure(config({ told: [] })), runner.configure(again)]);
  assertEquals([opened, closed], [2, 1]);
  runner.close();
  assertEquals(closed, 2);
});

Deno.test("a beacon that is removed while it opens is closed, and one that cannot be closed is named", async () => {
  let opened = 0, closed = 0;
  const gate = Promise.withResolvers<void>();
  const { runner, lines } = run({
    slow: async () => {
      opened++;
      await gate.promise;
      return { close: () => void closed++ };
    },
    sticks: () => {
      opened++;
      return {
        close: () => {
          throw new Error("no luck");
        },
      };
    },
  });
  const opening = runner.configure(config({ slow: [], sticks: [] }));
  await eventually(() => opened === 2, { what: "both" });
  await runner.configure(config({}));
  gate.resolve();
  await opening;
  assertEquals(closed, 1);
  assertEquals(lines, ["WARNING Beacon sticks could not be ended: no luck"]);
  assertEquals(runner.describe(), "watching nothing");
  runner.close();
});

Deno.test("an invalid configuration is named once until it is another one, and a check that fails is tried again", async () => {
  let checked = 0;
  const { runner, mistakes, sent } = run({ one: () => ({}) }, ({ all: given }) => {
    if (given.has("fails") && ++checked === 1) throw new Error("no luck");
    return given.has("wrong") ? `it is ${String(given.get("wrong"))}` : undefined;
  });
  const wrong = (text: string) => runner.configure(config({ one: [{ wrong: text }] }));
  for (const text of ["small", "small", "large"]) await wrong(text);
  await runner.configure(config({}));
  await wrong("large");
  assertEquals(mistakes, ["one: it is small", "one: it is large", "one: it is large"]);
  for (let n = 0; n < 2; n++) await runner.configure(config({ one: [{ fails: true }] }));
  assertEquals([checked, sent.map((event) => event.get("error")), runner.describe()], [2, ["no luck"], "watching one"]);
  runner.close();
});

Deno.test("of too many events within an interval the newest stay, which is an event too", async () => {
  const hosts: BeaconHost[] = [];
  const { runner, of } = run({ told: (_config, host) => (hosts.push(host), {}) });
  await runner.configure(config({ told: [{ interval: "100ms" }] }));
  hosts[0].fire(Array.from({ length: 10_002 }, (_, n) => map({ n })));
  assertEquals(of("told").map((event) => event.get("error")), [
    "more than 10000 events came within its interval; the oldest are dropped",
  ]);
  await eventually(() => of("told").length > 1, { what: "the events" });
  const data = of("told")[1].get("data");
  assertEquals([of("told").length, data instanceof Map && data.get("n")], [10_001, 2]);
  runner.close();
});

Deno.test("what a look finds after its beacon was removed is not sent", async () => {
  const gate = Promise.withResolvers<void>();
  let looks = 0;
  const { runner, sent, once, lines } = run({
    slow: () => ({
      look: async () => {
        looks++;
        await gate.promise;
        return [map({ n: 1 })];
      },
    }),
  });
  await runner.configure(config({ slow: [{ run_once: true }] }));
  await eventually(() => looks === 1, { what: "the look" });
  await runner.configure(config({}));
  gate.resolve();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals([sent, once, lines], [[], [], []]);
  runner.close();
});
