/**
 * What all returners of SQL databases share.
 * @module
 */

import { sqlReturner, type SqlStore, textRow } from "#lib/returners/sql_returner.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("the columns of a row are texts, and None is nothing", () => {
  assertEquals(textRow({ jid: "1", n: 5, none: null, missing: undefined, ok: true }), {
    jid: "1",
    n: "5",
    none: undefined,
    missing: undefined,
    ok: "true",
  });
});

Deno.test("with keep_jobs_seconds 0 no job is removed", () =>
  withTemporaryDirectory(async (root) => {
    const asked: (readonly [string, unknown])[] = [];
    const store: SqlStore = {
      name: "test",
      options: "",
      connect: () =>
        Promise.resolve({
          query: (statement, parameters) => {
            asked.push([statement.slice(0, 19), parameters]);
            return Promise.resolve([]);
          },
          close: () => Promise.resolve(),
        }),
      returnColumn: "return",
      asText: (column) => column,
      success: String,
      saveLoad: "",
      secondsAgo: "?",
    };
    const clean = async (keepSeconds: number) => {
      const overrides = { root_dir: root, user: "root", keep_jobs_seconds: keepSeconds };
      const { opts } = loadMasterConfig({ configDir: root, overrides });
      asked.length = 0;
      await sqlReturner(store).clean_old_jobs.run({}, { opts } as never, { args: [], kwargs: new Map() });
      return [...asked];
    };
    assertEquals(await clean(0), []);
    assertEquals(await clean(60), [["DELETE FROM jids WH", [60]], ["DELETE FROM salt_re", [60]]]);
  }));
