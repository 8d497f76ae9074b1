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
