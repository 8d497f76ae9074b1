/**
 * The reactor of a minion: events of its bus start its own functions.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { minionBus } from "#lib/bus/paths.ts";
import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a minion with engines: [reactor] runs caller reactions of its own events; what is broken is named, the others run", () =>
  withTemporaryDirectory(async (root) => {
    const note = `a:\n  caller.file.write:\n    - args: [${root}/{{ data.name }}, {{ tag }}]\n`;
    const files: Record<string, string> = {
      "note.sls": note,
      "kwargs.sls":
        `b:\n  caller.file.write:\n    - args:\n      - path: ${root}/kwargs\n      - args: "{{ grains.id }}"\n`,
      "broken.sls": "c:\n  caller.test.ping: [\n",
      "master.sls": "d:\n  local.test.ping:\n    - tgt: web1\n",
      "fails.sls": "e:\n  caller.test.exception:\n    - args: [no reason]\n",
      "again.sls": "f:\n  caller.event.fire:\n    - args: [{n: 1}, t/again]\n",
    };
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/${name}`, text);
    const map_ = `${root}/map.yaml`;
    Deno.writeTextFileSync(map_, JSON.stringify([{ "t/none": `${root}/note.sls` }]));
    await using fleet = await startFleet({
      minions: ["web1"],
      minion: { engines: [{ reactor: { worker_threads: 2 } }], reactor: map_, reactor_limits: { "t/again": 3 } },
    });
    const bus = minionBus(fleet.minionOpts("web1", {
      engines: [{ reactor: { worker_threads: 2 } }],
    }));
    // The map is a file, which is read again.
    Deno.writeTextFileSync(
      map_,
      JSON.stringify([
        "no map",
        { "t/*": [`${root}/broken.sls`, `${root}/master.sls`, `${root}/fails.sls`] },
        { "t/note": `${root}/note.sls` },
        { "t/kwargs": `${root}/kwargs.sls` },
        { "t/again": `${root}/again.sls` },
      ]),
    );
    const text = (name: string) => {
      try {
        return Deno.readTextFileSync(`${root}/${name}`);
      } catch {
        return "";
      }
    };
    assert(await fireEvent(bus, "t/again", map({ n: 1 })));
    assert(await fireEvent(bus, "t/note", map({ name: "noted" })));
    assert(await fireEvent(bus, "t/kwargs", map({})));
    await eventually(() => text("noted").includes("t/note"), { what: "the reaction" });
    await eventually(() => text("kwargs").includes("web1"), { what: "the reaction with keywords" });
    const has = (part: string) => fleet.logs.some((line) => line.includes(part));
    for (
      const part of [
        `${map_}:1: it is no map of a tag`,
        `${root}/broken.sls:`,
        `${root}/master.sls: Reactor 'd': local.test.ping cannot run on a minion, only caller.FUNCTION`,
        `${root}/fails.sls: Reactor 'e' failed to execute test.exception`,
        "too many events t/again",
      ]
    ) {
      await eventually(() => has(part), { what: part });
    }
    const explained = await fleet.saltJson("web1", "reactor.explain", "t/x", "{name: y}", `[${root}/note.sls]`);
    const said = isMap(explained) ? explained.get("web1") : undefined;
    const reactions = isMap(said) ? said.get("reactions") : undefined;
    assert(Array.isArray(reactions) && isMap(reactions[0]));
    assertEquals([reactions[0].get("call"), reactions[0].get("args")], ["caller.file.write", [`${root}/y`, "t/x"]]);
    assertEquals(text("y"), "");
  }));
