/**
 * Files and SQLite do what every job store does.
 * @module
 */

import { asyncJobStore } from "#lib/jobs/async_store.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { RemoteRows, serveRows } from "#lib/stores/remote_rows.ts";
import type { JobRows } from "#lib/stores/rows.ts";
import { SqliteRows } from "#lib/stores/sqlite_rows.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { copyJobs } from "#lib/stores/move_jobs.ts";
import { jidMs } from "#lib/protocol/jid.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { batchState } from "#tests/support/fleet/batch_state.ts";
import { MAX_OUTPUT, overRows, runStoreTest, STORE_TESTS } from "./store_conformance.ts";

/** Rows behind a port, as the threads of a master have them. */
function behindPort(rows: JobRows): JobRows {
  const { port1, port2 } = new MessageChannel();
  serveRows(rows, port1);
  const remote = new RemoteRows(port2);
  return Object.assign(remote, {
    async close() {
      await RemoteRows.prototype.close.call(remote);
      port1.close();
      await rows.close();
    },
  });
}

const sqlite = (root: string) => new SqliteRows({ path: `${root}/jobs.sqlite`, synced: false, waitMs: 5_000 });

/** Opens a store of each kind below a directory. */
const STORES: Readonly<Record<string, (root: string) => JobStore>> = {
  local_cache: (root) => asyncJobStore(jobStore(root, { maxOutputBytes: MAX_OUTPUT })),
  sqlite: (root) => overRows(sqlite(root)),
  "sqlite behind a port": (root) => overRows(behindPort(sqlite(root))),
};

for (const test of STORE_TESTS) {
  for (const [name, open] of Object.entries(STORES)) {
    Deno.test(`${name}: ${test.what}`, () => withTemporaryDirectory((root) => runStoreTest(test, () => open(root))));
  }
}

Deno.test("a job moves with all that belongs to it, once, and older ones stay", () =>
  withTemporaryDirectory(async (root) => {
    const from = STORES.local_cache(`${root}/from`), to = STORES.sqlite(`${root}/to`);
    const old = "20240101000000000001", jid = "20240102000000000001", ended = "2024, Jan 02 00:00:01.000000";
    const load = map({ fun: "test.ping", tgt: "*", tgt_type: "glob" });
    for (const one of [old, jid]) {
      await from.prepare(one);
      await from.saveLoad(one, new Map(load), ["web1"]);
    }
    await from.saveReturn(map({ jid, id: "web1", return: true, retcode: 0 }));
    await from.acks.save(jid, "web2", { state: "running", sinceMs: 1_000 });
    await from.saveEndTime(jid, ended);
    const state = batchState({ jid, minions: ["web1"], pending: ["web1"] });
    await from.batches.save(state);
    await from.outputs.open(jid);
    const output = { seq: 1, parts: [{ command: 1, stream: "stdout" as const, text: "line\n" }] };
    await from.outputs.append(jid, "web1", output);
    assertEquals(await copyJobs(from, to, jidMs(jid)), { jobs: 1, returns: 1 });
    assertEquals(await copyJobs(from, to, jidMs(jid)), { jobs: 0, returns: 0 });
    assertEquals([await to.exists(old), (await to.getLoad(jid))?.get("Minions")], [false, ["web1"]]);
    assertEquals([...(await to.acks.all(jid)).keys()], ["web2"]);
    assertEquals([await to.getEndTime(jid), await to.batches.read(jid)], [ended, state]);
    assertEquals(await to.outputs.read(jid, "web1"), [output]);
    for (const store of [from, to]) await store.close();
  }));
