/** Beacons in Python, and what of them cannot be closed. No Python runs. */

import { PythonBeacons } from "#lib/minion/beacons/python_beacons.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { ScriptedProcess } from "#tests/support/servers/scripted_process.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a beacon that cannot be closed is named, and does not keep the others from it", () =>
  withTemporaryDirectory(async (root) => {
    const { log, lines } = memoryLog();
    const raised = { class: "OSError", bases: ["Exception"], text: "the socket is gone", trace: "" };
    // Three looks, then the ends of the three beacons.
    const answers = [...Array(3).fill({ value: [] }), { error: raised }, { missing: "b.close", reason: null }, {
      value: 1,
    }];
    using process = new ScriptedProcess(`${root}/socket`, { answer: () => answers.shift() });
    const beacons = new PythonBeacons({
      opts: testOpts({ root_dir: root }),
      log,
      plugins: () => ({ files: {}, names: { beacons: ["a", "b", "c"] } }),
      socket: () => Promise.resolve(`${root}/socket`),
      grains: () => new Map(),
      pillar: () => new Map(),
      has: () => Promise.resolve(false),
      call: () => Promise.resolve(null),
    });
    const look = (name: string) => beacons.call(`beacons/${name}.beacon`, pack({ args: [[]], kwargs: {} }));
    for (const name of beacons.names) assertEquals(await look(name), []);
    await beacons.close();
    assertEquals(lines, ["WARNING The beacon a was not closed: the socket is gone"]);
    assertEquals([process.requests.length, answers], [6, []]);
  }));
