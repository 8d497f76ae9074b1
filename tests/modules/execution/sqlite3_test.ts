import { map } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "sqlite3");

Deno.test("sqlite3 changes and reads a database; a second statement, and what is no SQL, are errors", () =>
  withTemporaryDirectory(async (root) => {
    const db = `${root}/a.db`;
    const context = testContext();
    const call = (fun: string, ...args: string[]) => resultOrError(context, `sqlite3.${fun}`, [db, ...args]);
    assertEquals(await call("modify", "CREATE TABLE test(id INT, text TEXT);"), true);
    assertEquals(await call("modify", "CREATE INDEX at ON test (id)"), true);
    assertEquals(await call("modify", "INSERT INTO test VALUES (1, 'ä'), (2, NULL)"), true);
    assertEquals(await call("fetch", "SELECT * FROM test ORDER BY id"), [[1, "ä"], [2, null]]);
    assertEquals([await call("tables"), await call("indices"), await call("indexes")], [[["test"]], [["at"]], [[
      "at",
    ]]]);
    const two = "DELETE FROM test; DELETE FROM test";
    assertEquals(await call("modify", two), "You can only execute one statement at a time.");
    for (const nothing of ["", " ;; ", "-- only\n /* a comment", "/**/;"]) {
      assertEquals([await call("fetch", nothing), await call("modify", nothing)], [[], true], nothing);
    }
    assertEquals(await call("fetch", ";-- first\nSELECT 1, 1; /* last"), [[1, 1]]);
    assertEquals(await call("fetch", "SELECT count(*) FROM test"), [[2]]);
    assertEquals(await call("fetch", "SELECT * FROM none"), "no such table: none");
    assertMatch(String(await context.call("sqlite3.sqlite_version", [], map({}))), /^3\.\d+/);
  }));
