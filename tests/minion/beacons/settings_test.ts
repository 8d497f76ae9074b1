/**
 * The configuration of beacons.
 * @module
 */

import {
  intervalWarning,
  mergeBeacons,
  readBeacons,
  readInterval,
  withEnabled,
  withoutEnabled,
} from "#lib/minion/beacons/settings.ts";
import { float, map, toValue } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";

Deno.test("an interval counts looks as Salt's, or is a time with a unit", () => {
  assertEquals(readInterval(5, 1_000), 5_000);
  assertEquals(readInterval(float(0.5), 1_000), 1_000);
  assertEquals(readInterval(5, 2_000), 6_000);
  assertEquals(readInterval("90s", 1_000), 90_000);
  assertEquals(readInterval("500ms", 1_000), 500);
  assertEquals(readInterval("1.5h", 1_000), 5_400_000);
  assertEquals(readInterval(undefined, 1_000), undefined);
  assertEquals([readInterval(0, 1_000), readInterval(-1, 1_000)], [undefined, undefined]);
  for (const given of ["5", "abc", "0s", "-1s", "1000d"]) {
    assertStringIncludes(String(readInterval(given, 1_000)), `interval ${given} is no time`);
  }
  for (const given of [[], float(NaN)]) assertStringIncludes(String(readInterval(given, 1_000)), "is no number");
  for (const given of [1e9, float(Infinity), 2n ** 70n]) {
    assertStringIncludes(String(readInterval(given, 1_000)), "is too long");
  }
  assertStringIncludes(intervalWarning(-1) ?? "", "interval -1 is not above 0");
  assertEquals(intervalWarning(5), undefined);
});

Deno.test("lists of maps and maps are configurations; one that is neither stops no other", () => {
  const { running, invalid } = readBeacons(
    map({
      enabled: true,
      a: [{ percent: 1 }, { interval: 3 }],
      b: { percent: 1, beacon_module: "memusage" },
      c: 5,
      d: [1],
      e: [{ enabled: false }],
      f: [{ interval: "soon" }],
      g: [{ run_once: true }, { disable_during_state_run: true }],
    }),
    1_000,
  );
  assertEquals(running.map(({ name, module, everyMs }) => [name, module, everyMs]), [
    ["a", "a", 3_000],
    ["b", "memusage", undefined],
    ["g", "g", undefined],
  ]);
  assert(running[2].runOnce && running[2].disableDuringStateRun);
  assertEquals([...invalid.keys()], ["c", "d", "f"]);
  assertEquals(readBeacons(map({ enabled: false, a: [] }), 1_000).running, []);
});

Deno.test("the minion's own beacons win over those of its pillar", () => {
  assertEquals(mergeBeacons(map({ a: 1 }), map({ a: 2, b: 3 })), map({ a: 1, b: 3 }));
  assertEquals(mergeBeacons(map({ a: 1 }), null), map({ a: 1 }));
});

Deno.test("enabled is changed where Salt changes it", () => {
  assertEquals(withEnabled(toValue([{ a: 1 }]), false), toValue([{ a: 1 }, { enabled: false }]));
  assertEquals(withEnabled(toValue([{ enabled: false }, { a: 1 }]), true), toValue([{ enabled: true }, { a: 1 }]));
  assertEquals(withEnabled(map({ a: 1 }), false), map({ a: 1, enabled: false }));
  assertEquals(withoutEnabled(toValue([{ a: 1 }, { enabled: true }])), toValue([{ a: 1 }]));
  assertEquals(withoutEnabled(toValue([{ enabled: false }])), toValue([{ enabled: false }]));
  assertEquals(withoutEnabled(map({ a: 1, enabled: true })), map({ a: 1 }));
  assertEquals(withoutEnabled(map({ a: 1, enabled: false })), map({ a: 1, enabled: false }));
});
