/**
 * Python's programs on the host of our minion: they hear the events of its bus, and the minion acts on theirs.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { OURS, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";

const SCRIPT = decodeURIComponent(new URL("./minion_bus.py", import.meta.url).pathname);

/** 3006 expects a length before each event: it cannot read a bus of 3007 and 3008, nor ours. */
for (const version of ["3007.15", "3008.3"]) {
  await testWithPython(version, "get_event of {} hears our minion, and fire_event reaches it", async (python) => {
    await using site = new Site();
    await site.explain(async () => {
      await site.startMaster(OURS);
      site.startMinion(OURS, "m1");
      await site.keyComes("m1", "minions_pre");
      await site.acceptAll();
      await site.answers("m1");
      const [call] = python.command("salt-call");
      const words = [call.replace(/salt-call$/, "python"), SCRIPT, `${site.minionRoot("m1")}/etc/salt/minion`];
      const { code, out, err } = await run(words);
      assertEquals(code, 0, `${out}${err}`);
      assertEquals(JSON.parse(out.trim().split("\n").at(-1) ?? ""), {
        "fired": true,
        "own event": { n: 1, text: "é" },
        "what the minion does": true,
      });
    });
  });
}
