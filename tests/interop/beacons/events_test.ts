/**
 * Events of beacons: those of Python minions on our master, and those of our minion on Python masters.
 * @module
 */

import { assert, assertStringIncludes } from "#tests/support/assert.ts";
import { PYTHON_SALTS } from "#tests/interop/python_salt.ts";
import { OURS, type Salt, testWithPython } from "#tests/interop/salts.ts";
import { Site } from "#tests/interop/site.ts";

/** Adds a beacon to the minion, and reads its event on the master's bus. */
async function proveBeacons({ master, minion }: { readonly master: Salt; readonly minion: Salt }): Promise<void> {
  await using site = new Site();
  await site.explain(async () => {
    await site.startMaster(master);
    site.startMinion(minion, "m1");
    await site.keyComes("m1", "minions_pre");
    await site.acceptAll();
    await site.answers("m1");
    const heard = site.operate("salt-run", ["state.event", "salt/beacon/m1/*", "count=1"]);
    const config = '[{"averages": {"1m": [-2.0, -1.0], "5m": [0.0, 1.0], "15m": [0.0, 1.0]}}, {"interval": 2}]';
    const added = await site.salt(["m1", "beacons.add", "load", config]);
    assertStringIncludes(JSON.stringify(added), "Added beacon: load.");
    const { out } = await heard;
    // After the event salt-run shows the runner's result.
    const [tag, data] = out.trim().split("\n")[0].split("\t");
    assert(tag === "salt/beacon/m1/load/", out);
    const { id, "1m": average } = JSON.parse(data);
    assert(id === "m1" && typeof average === "number", out);
    const deleted = await site.salt(["m1", "beacons.delete", "load"]);
    assertStringIncludes(JSON.stringify(deleted), "Deleted beacon: load.");
  });
}

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "an event of a beacon of {} comes to our master", (python) => {
    return proveBeacons({ master: OURS, minion: python });
  });
  await testWithPython(version, "an event of our beacon comes to a master of {}", (python) => {
    return proveBeacons({ master: python, minion: OURS });
  });
}
