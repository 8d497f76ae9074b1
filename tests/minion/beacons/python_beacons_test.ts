/**
 * Beacons in Python: they keep what they saw, and use the minion's functions.
 * @module
 */

import { isFile } from "#lib/os/file_kind.ts";
import { isMap, map, str, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const BEACON = `
SEEN = []
def validate(config):
    if not any("path" in one for one in config):
        return False, "the beacon tells needs a path"
    return True, "Valid beacon configuration"
def beacon(config):
    joined = {}
    for one in config:
        joined.update(one)
    open(joined["path"] + ".looked_" + joined["_beacon_name"], "w").close()
    if joined["_beacon_name"] != "tells" or not __salt__["file.file_exists"](joined["path"]):
        return []
    if "told" in __context__:
        return [{"tag": "again"}] if SEEN else []
    __context__["told"] = True
    SEEN.append(1)
    return [{"name": joined["_beacon_name"], "kernel": __grains__["kernel"], "module": __name__, "tag": "found"}]
def close(config):
    joined = {}
    for one in config:
        joined.update(one)
    with open(joined["path"] + ".closed", "a") as file:
        file.write("%s %d\\n" % (joined["_beacon_name"], len(SEEN)))
`;

/** Its file takes a while to load, for it mentions grains; it has no `validate`. */
const SLOW = `
import time
def __virtual__():
    return "os" in __grains__
def beacon(config):
    time.sleep(0.01)
    return [{"tag": "looked"}]
`;

fleetTest(
  "beacons of one Python module that begin at the same time all look, also without a function validate",
  {
    minions: [],
    minion: {
      beacons: Object.fromEntries(
        Array.from({ length: 6 }, (_, n) => [`b${n}`, [{ beacon_module: "slow" }, { interval: "300ms" }]]),
      ),
    },
  },
  async (fleet) => {
    const directory = `${fleet.minionOpts("web1").extension_modules}/beacons`;
    Deno.mkdirSync(directory, { recursive: true });
    Deno.writeTextFileSync(`${directory}/slow.py`, SLOW);
    using events = await fleet.listen("salt/beacon/web1/");
    await fleet.startMinion("web1");
    const looked = new Set<string>();
    while (looked.size < 6) {
      const event = await events.next(WITHIN_MS);
      assert(event !== undefined && !event.data.has("error"), `${event?.tag} ${str(event?.data.get("error") ?? null)}`);
      looked.add(event.tag);
    }
    assertEquals([...looked].sort(), Array.from({ length: 6 }, (_, n) => `salt/beacon/web1/b${n}/looked`));
  },
);

fleetTest(
  "a beacon in Python is validated, looks with the minion's functions, and keeps what it saw",
  { minions: ["web1"] },
  async (fleet) => {
    Deno.mkdirSync(`${fleet.root}/srv/_beacons`, { recursive: true });
    Deno.writeTextFileSync(`${fleet.root}/srv/_beacons/tells.py`, BEACON);
    Deno.writeTextFileSync(`${fleet.root}/srv/_beacons/broken.py`, "def beacon(config): return [])\n");
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
    assertEquals(await call("saltutil.sync_beacons"), ["beacons.broken", "beacons.tells"]);
    assertStringIncludes(str(await call("beacons.list_available", "return_yaml=False")), "'tells'");
    assertEquals(
      await call("beacons.add", "tells", "[{x: 1}]"),
      map({
        comment: "Beacon tells configuration invalid, not adding.\nthe beacon tells needs a path",
        result: false,
      }),
    );
    const path = `${fleet.root}/there`;
    await call("beacons.add", "tells", `[{path: ${path}}, {interval: "300ms"}]`);
    await call("beacons.add", "second", `[{path: ${path}}, {interval: "300ms"}, {beacon_module: tells}]`);
    Deno.writeTextFileSync(path, "");
    const found = await next("salt/beacon/web1/tells/found");
    found.delete("_stamp");
    assertEquals(found, map({ name: "tells", kernel: "Linux", module: "salt.loaded.ext.beacons.tells", id: "web1" }));
    await next("salt/beacon/web1/tells/again");
    // Only beacons that have looked are closed.
    await eventually(() => isFile(`${path}.looked_second`), { what: "a look of the second beacon" });
    assertEquals(await call("saltutil.refresh_beacons"), true);
    const closed = () => Deno.readTextFileSync(`${path}.closed`).split("\n").sort();
    await eventually(() => closed().length >= 3, { what: "the ends of both beacons" });
    assertEquals(closed(), ["", "second 1", "tells 1"]);
    await call("beacons.add", "broken", "[{path: x}]");
    assertStringIncludes(str((await next("salt/beacon/web1/broken/")).get("error") ?? null), "unmatched ')'");
  },
);
