/** @module */
import { type EventActions, handleLocalEvent } from "#lib/minion/agent/events.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

/** The actions that an event triggers in a minion. */
const EVENTS: readonly (readonly [tag: string, data: Record<string, unknown>, does: unknown[]])[] = [
  ["module_refresh", {}, ["modules"]],
  ["module_refresh", { notify: true }, ["modules"]],
  ["module_refreshed", {}, ["modules"]], // by prefix, as in Salt
  ["grains_refresh", { force_refresh: true }, ["grains"]],
  ["pillar_refresh", {}, ["pillar"]],
  ["beacons_refresh", {}, ["beacons"]],
  ["fire_master", { tag: "a/b", data: { x: 1 } }, [map({ pretag: null, data: { x: 1 }, tag: "a/b" })]],
  ["fire_master", { events: [{ tag: "a" }], pretag: "p", tag: null }, [map({ pretag: "p", events: [{ tag: "a" }] })]],
  // Fields that a job writes into the event are not sent to the master as fields of the request.
  ["fire_master", { tag: "a", cmd: "_return", id: "other", grains: {} }, [map({ pretag: null, tag: "a" })]],
  ["a_module_refresh", {}, []],
  ["salt/auth/creds", {}, []],
  ["", {}, []],
];
for (const [tag, data, does] of EVENTS) {
  Deno.test(`the event "${tag}" with ${JSON.stringify(data)} does ${Deno.inspect(does, { compact: true })}`, async () => {
    const done: unknown[] = [];
    const note = (what: unknown) => Promise.resolve(void done.push(what));
    const actions: EventActions = {
      refreshModules: () => note("modules"),
      refreshGrains: () => note("grains"),
      refreshPillar: () => note("pillar"),
      refreshBeacons: () => note("beacons"),
      fireMaster: (event: ValueMap) => note(event).then(() => true),
    };
    await handleLocalEvent({ tag, data: map(data) }, actions);
    assertEquals(done, does);
  });
}

Deno.test("errors are thrown to the caller, which logs them", async () => {
  const fail = () => Promise.reject(new Error("no pillar today"));
  const actions: EventActions = {
    refreshModules: fail,
    refreshGrains: fail,
    refreshPillar: fail,
    refreshBeacons: fail,
    fireMaster: fail,
  };
  await assertRejects(() => handleLocalEvent({ tag: "pillar_refresh", data: new Map() }, actions), Error, "no pillar");
});
