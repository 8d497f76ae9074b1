/**
 * The returners that a job names: their names become names of directories.
 * @module
 */

import { JobReturners, type ReturnerParts } from "#lib/minion/agent/job_returners.ts";
import { LEFT_TO_NEXT_MINION } from "#lib/minion/worker/job_pool.ts";
import { NO_JID } from "#lib/protocol/own_job.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a name that is no module's reaches no path, and a return waits while the minion ends", () =>
  withTemporaryDirectory(async (root) => {
    const { log, lines } = memoryLog(), calls: ValueMap[] = [];
    const run = (call: ValueMap) => {
      calls.push(call);
      return Promise.resolve(LEFT_TO_NEXT_MINION);
    };
    const pool = { run, signal: () => Promise.resolve(false) } as unknown as ReturnerParts["pool"];
    const opts = testOpts({ root_dir: root, cachedir: `${root}/cache` });
    const returners = new JobReturners({ opts, pool, log });
    const refused = ["../up", "/etc/cron.d/x", "a/b", "..", "a\0b"];
    const returned = map({ cmd: "_return", jid: NO_JID, fun: "test.ping", return: true });
    returners.give(map({ jid: "20260101000000000001", ret: [...refused, "good"].join(",") }), returned);
    const given: readonly Value[] = [5, null, map({ "../up": 1 }), [map({ a: 1 })], ""];
    for (const ret of given) returners.give(map({ jid: "20260101000000000002", ret }), returned);
    assertEquals(
      lines.filter((line) => line.startsWith("ERROR")).slice(0, 5),
      refused.map((name) => `ERROR There is no returner of the name ${name}`),
    );
    await eventually(() => lines.some((line) => line.includes("The minion ends")), { what: "the return that waits" });
    await returners.close();
    const [ret] = calls[0].get("arg") as Value[];
    assertEquals([calls[0].get("fun"), isMap(ret) && ret.get("jid")], [
      "returners/good.returner",
      "20260101000000000001",
    ]);
    const names = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name);
    assertEquals([names(root), names(`${root}/cache`), names(`${root}/cache/returners`)], [["cache"], ["returners"], [
      "good",
    ]]);
    assertEquals(names(`${root}/cache/returners/good`).length, 1);
  }));
