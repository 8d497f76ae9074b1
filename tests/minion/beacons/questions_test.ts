/**
 * Questions about a minion's beacons without a minion: what is changed, and what of pillar is not.
 * @module
 */

import { MinionBeacons } from "#lib/minion/beacons/minion_beacons.ts";
import { isMap, map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Runs `act` with beacons that are not started. */
function withBeacons(
  beacons: Value,
  act: (
    beacons: MinionBeacons,
    ask: (func: string, fields?: Record<string, unknown>) => Promise<ValueMap | undefined>,
    lines: string[],
  ) => Promise<void>,
): Promise<void> {
  return withTemporaryDirectory(async (root) => {
    const { log, lines } = memoryLog();
    const opened = new MinionBeacons({
      id: "m1",
      opts: {},
      loopMs: 1_000,
      beacons,
      files: { conf_file: `${root}/minion`, config_dir: root, default_include: "minion.d/*.conf" },
      log,
      call: () => Promise.resolve(null),
      fireLocal: () => Promise.resolve(true),
    });
    const { answering } = opened;
    try {
      await act(opened, async (func, fields = {}) => (await answering.answer(map({ func, ...fields })))?.data, lines);
    } finally {
      await opened.close();
    }
  });
}

Deno.test("beacons of pillar are changed by no question, and others by each", () =>
  withBeacons(map({ own: [{ x: 1 }] }), async (beacons, ask) => {
    beacons.pillar = map({ beacons: { theirs: [{ y: 1 }] } });
    const comment = async (func: string, name: string) => {
      const answer = await ask(func, { name, beacon_data: [{ z: 1 }] });
      return [answer?.get("complete"), answer?.get("comment")];
    };
    assertEquals(await comment("add", "theirs"), [
      false,
      "Cannot update beacon item theirs, because it is configured in pillar.",
    ]);
    for (const func of ["modify", "delete", "enable_beacon", "disable_beacon"]) {
      const verb = func.replace("_beacon", "");
      assertEquals(await comment(func, "theirs"), [
        false,
        `Cannot ${verb} beacon item theirs, it is configured in pillar.`,
      ]);
    }
    assertEquals(await comment("disable_beacon", "none"), [true, "Beacon item none not found."]);
    assertEquals(await comment("delete", "none"), [true, "Beacon item none not found."]);
    assertEquals(await comment("add", "own"), [true, "Updating settings for beacon item: own"]);
    assertEquals(await comment("disable_beacon", "own"), [true, "Disabling beacon item own"]);
    assertEquals((await ask("disable"))?.get("beacons"), map({ own: [{ z: 1 }, { enabled: false }], enabled: false }));
    assertEquals((await ask("enable"))?.get("beacons"), map({ own: [{ z: 1 }, { enabled: false }], enabled: true }));
    const listed = (await ask("list", { include_opts: false }))?.get("beacons");
    assertEquals(isMap(listed) && [...listed.keys()], ["theirs"]);
    assertEquals((await ask("reset"))?.get("beacons"), new Map());
    assertEquals((await ask("validate_beacon", { name: "x" }))?.get("valid"), null);
  }));

Deno.test("beacons that are no map, and questions that there are not, are named", () =>
  withBeacons(toValue(["x"]), async (beacons, ask, lines) => {
    beacons.pillar = map({ beacons: ["y"] });
    assertEquals(await ask("toString"), undefined);
    assertEquals(lines, [
      "ERROR The option beacons is no map of names; no beacon of it runs",
      "ERROR beacons in pillar is no map of names; no beacon of it runs",
      'ERROR Function "toString" is unavailable in salt.utils.beacons',
    ]);
    beacons.pillar = map({});
    assertEquals((await ask("list"))?.get("beacons"), new Map());
  }));
