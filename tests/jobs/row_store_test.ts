/**
 * What a job store over rows asks of them when many minions return at once.
 * @module
 */

import { CalledRows, performCall } from "#lib/stores/called_rows.ts";
import { rowJobStore } from "#lib/stores/row_store.ts";
import type { JobRows } from "#lib/stores/rows.ts";
import { SqliteRows } from "#lib/stores/sqlite_rows.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JID = "20260101000000000001";
const RETURNS = 300;

/** Rows that count their calls. */
class CountedRows extends CalledRows {
  readonly counts = new Map<string, number>();
  readonly #rows: JobRows;

  constructor(rows: JobRows) {
    super();
    this.#rows = rows;
  }

  protected override call<T>(method: keyof JobRows, argument?: unknown): Promise<T> {
    this.counts.set(method, (this.counts.get(method) ?? 0) + 1);
    return performCall(this.#rows, method, argument) as Promise<T>;
  }

  override close(): Promise<void> {
    return this.#rows.close();
  }
}

Deno.test("returns of one job that come at once ask for it once, whether its load is there or not", async () => {
  await withTemporaryDirectory(async (directory) => {
    for (const hasLoad of [true, false]) {
      const path = `${directory}/${hasLoad}.sqlite`;
      const rows = new CountedRows(new SqliteRows({ path, synced: false, waitMs: 5_000 }));
      let waits = 0;
      const options = { uniqueJid: false, maxOutputBytes: 0, onWait: () => void waits++ };
      const jobs = rowJobStore(rows, { ...options, log: (text) => Promise.reject(new Error(text)) });
      await jobs.prepare(JID);
      if (hasLoad) await jobs.saveLoad(JID, map({ fun: "test.ping", tgt: "*" }), ["m1"]);
      rows.counts.clear();
      waits = 0;
      const ids = Array.from({ length: RETURNS }, (_, i) => `m${i}`);
      const stored = await Promise.all(ids.map(async (id) => {
        assertEquals(await jobs.noLog.reader(JID), undefined);
        return await jobs.saveReturn(map({ jid: JID, id, fun: "test.ping", return: true }));
      }));
      assertEquals(new Set(stored), new Set(["stored"]));
      const [asked = 0, made = 0] = ["job", "saveJob"].map((method) => rows.counts.get(method));
      assertEquals([asked <= 3, made], [true, hasLoad ? 0 : 1], `${asked} questions, ${made} jobs made`);
      assertEquals(rows.counts.get("saveReturn"), RETURNS);
      // Each lets its thread take others while it waits.
      assertEquals(waits >= 2 * RETURNS, true, String(waits));
      assertEquals((await jobs.getReturns(JID)).size, RETURNS);
      await jobs.close();
    }
  });
});
