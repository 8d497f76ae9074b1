/**
 * The mirror of a cluster's keys and what gives data to the others, without a database.
 * @module
 */

import type { Client } from "pg";
import type { ClusterDatabase } from "#lib/cluster/cluster_database.ts";
import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { KeyMirror } from "#lib/cluster_banks/key_mirror.ts";
import { SharedState } from "#lib/cluster_banks/shared_state.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { StoreError } from "#lib/errors.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { takeFileLock } from "#lib/os/file_lock.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const KEYS = new RootKeys(new Uint8Array(32));

/** Answers a question for the generation of the keys with 3, and others with no rows. */
const CLIENT = {
  query: (sql: string) => Promise.resolve({ rows: sql.includes("key_generation") ? [{ n: "3" }] : [] }),
} as unknown as Client;

Deno.test("keys that another process keeps locked are not changed, and are taken at the next look", () =>
  withTemporaryDirectory(async (pkiDir) => {
    const mirror = new KeyMirror({
      db: { schema: "salt", read: (run) => run(CLIENT) },
      keys: KEYS,
      store: new KeyStore(pkiDir),
      pkiDir,
      clusterId: "prod",
      log: SILENT_LOGGER,
      forget: () => {},
    });
    const lock = takeFileLock(`${pkiDir}/.cluster_keys.lock`);
    assert(lock !== undefined);
    let nowMs = 0;
    await withReplaced(performance, { name: "now", by: () => nowMs += 1_500 }, async () => {
      await assertRejects(() => mirror.look(), StoreError, "Another process keeps the keys locked");
    });
    assertEquals(mirror.seen, undefined);
    lock[Symbol.dispose]();
    await mirror.look();
    assertEquals(mirror.seen, 3);
  }));

Deno.test("what ends while it gives data to the others gives none later", () =>
  withTemporaryDirectory(async (root) => {
    const { opts } = loadMasterConfig({
      configDir: `${root}/etc/salt`,
      overrides: { root_dir: root, id: "m1", user: "root", cluster_id: "prod" },
    });
    let looks = 0, closed: Promise<void> | undefined;
    const db: ClusterDatabase = {
      schema: "salt",
      origin: 1,
      incarnation: 1,
      write: (run) => run(CLIENT),
      read: (run) => run(CLIENT),
      follow: () => {},
      wake: () => Promise.resolve(),
      peers: new Map(),
      get away() {
        // The second look is its last one.
        if (++looks === 2) closed = state.close();
        return true;
      },
    };
    const state: SharedState = new SharedState(opts, { db, keys: KEYS, log: SILENT_LOGGER, maintains: () => false });
    using time = new SkippedTime();
    state.start();
    for (const ms of [200, 400, 600, 800]) await time.to(ms);
    await closed;
    assertEquals([looks, closed !== undefined], [2, true]);
  }));
