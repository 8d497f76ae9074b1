/** Beacons of an operator: what their functions return, and what is made of it. */

import { CommandError } from "#lib/errors.ts";
import { configMaps, ownConfig } from "#lib/plugins/beacon.ts";
import { ownBeacon, ownBeaconNames } from "#lib/plugins/own_beacon.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

const CONFIG = ownConfig(configMaps(toValue([{ limit: 5 }])) ?? []);

/** The beacon whose functions return or throw this; with the calls. */
function beaconOf(answer: Value | Error) {
  const calls: Value[] = [];
  const beacon = ownBeacon("door", (fun, args) => {
    calls.push([fun, [...args]]);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  });
  return { beacon, calls };
}

Deno.test("an own beacon's validate says what is wrong, by a text, a pair or an error; without one all is right", async () => {
  const cases: readonly (readonly [answer: Value | Error, refusal: string | undefined])[] = [
    [null, undefined],
    ["", undefined],
    [true, undefined],
    [[true, "Valid beacon configuration"], undefined],
    [[false, "limit is no number"], "limit is no number"],
    [[false], "it is not valid"],
    ["limit is no number", "limit is no number"],
    [new CommandError("limit is missing"), "limit is missing"],
    [new Error("'beacons/door.validate' is not available."), undefined],
  ];
  for (const [answer, refusal] of cases) {
    const { beacon, calls } = beaconOf(answer);
    assertEquals(await beacon.validate?.(CONFIG), refusal);
    assertEquals(calls, [["beacons/door.validate", [[map({ limit: 5 })]]]]);
  }
  await assertRejects(async () => await beaconOf(new RangeError("a fault")).beacon.validate?.(CONFIG), RangeError);
});

Deno.test("an own beacon finds a list of maps or nothing; anything else is named", async () => {
  const look = async (answer: Value) => {
    const { beacon, calls } = beaconOf(answer);
    const host = { log: SILENT_LOGGER, call: () => Promise.resolve(null), fire: () => {}, fail: () => {} };
    const running = await beacon.open(CONFIG, { ...host, name: "front" });
    const found = await running.look?.();
    assertEquals(calls, [["beacons/door.beacon", [[map({ limit: 5 }), map({ _beacon_name: "front" })]]]]);
    return found;
  };
  assertEquals([await look(null), await look([]), await look([map({ open: true })])], [[], [], [map({ open: true })]]);
  const refusals: readonly (readonly [Value, string])[] = [["open", "'open'"], [[map({}), 5], "[{}, 5]"]];
  for (const [answer, shown] of refusals) {
    await assertRejects(() => look(answer), CommandError, `it returned no list of maps, but ${shown}`);
  }
  assertEquals(ownBeaconNames(["own", "beacons/door", "returners/x"]), ["door"]);
});
