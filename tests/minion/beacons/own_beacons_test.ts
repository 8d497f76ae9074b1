/**
 * An operator's own beacons, as docs/beacons.md has one: synced, checked, run, listed.
 * @module
 */

import { isMap, map, str, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const PAGE = Deno.readTextFileSync(new URL("../../../docs/beacons.md", import.meta.url));
const OWN = /^```js\n([^]*?)^```$/m.exec(PAGE)?.[1] ?? "";

Deno.test("an operator's own beacon is synced, checked and run; its errors are events, and others go on", () =>
  withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/_beacons`);
    assertStringIncludes(OWN, "// _beacons/room.js\n");
    Deno.writeTextFileSync(`${root}/_beacons/room.js`, OWN.replace("/srv/room", root));
    Deno.writeTextFileSync(`${root}/celsius`, "30");
    await using fleet = await startFleet({ minions: ["web1"], master: { file_roots: { base: [root] } } });
    using events = await fleet.listen("salt/beacon/web1/");
    const call = async (...words: string[]) => {
      const answer = await fleet.saltJson("web1", ...words);
      return isMap(answer) ? answer.get("web1") ?? null : answer;
    };
    const next = async (tag: string): Promise<ValueMap> => {
      const event = await events.next(WITHIN_MS, (each) => each === tag);
      assert(event !== undefined, tag);
      return event.data;
    };
    assertEquals(
      await call("beacons.add", "room", "[{celsius: 25}]"),
      map({
        comment: 'Beacon "room" is not available.',
        result: false,
      }),
    );
    assertEquals(await call("saltutil.sync_beacons"), ["beacons.room"]);
    const available = await call("beacons.list_available", "return_yaml=False");
    assert(Array.isArray(available) && available.includes("room") && available.includes("ps"), str(available));
    assertEquals(
      await call("beacons.add", "room", "[{fahrenheit: 77}]"),
      map({
        comment: "Beacon room configuration invalid, not adding.\nConfiguration for room beacon requires celsius.",
        result: false,
      }),
    );
    const found = await call("beacons.test", "room", "[{celsius: 25}]");
    const shown = isMap(found) ? found.get("events") : undefined;
    assert(Array.isArray(shown) && isMap(shown[0]), str(found));
    assertEquals(shown[0].get("tag"), "salt/beacon/web1/room/warm");
    await call("beacons.add", "room", '[{celsius: 25}, {interval: "500ms"}]');
    assertEquals((await next("salt/beacon/web1/room/warm")).get("celsius"), 30);
    Deno.removeSync(`${root}/celsius`);
    await call("beacons.add", "memusage", "[{percent: 0}]");
    assertStringIncludes(str((await next("salt/beacon/web1/room/")).get("error") ?? null), "No such file");
    await next("salt/beacon/web1/memusage/");
  }));
