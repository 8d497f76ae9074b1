/**
 * The states of MySQL where the server refuses a step; its answers are the test's. What they do with a real server,
 * tests/modules/execution/mysql_test.ts has.
 * @module
 */

import { keepMysqlError } from "#lib/host/mysql/last_error.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { type Answer, type Answers, inTurn, scriptedState } from "#tests/support/calls/state_call.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A function that the server refuses: False, and the error in the job. */
function refused(job: JobContext): Answer {
  return () => {
    keepMysqlError(job, "MySQL Error 1044: denied");
    return false;
  };
}

type Case = readonly [
  fun: string,
  args: Readonly<Record<string, unknown>>,
  answers: (no: Answer) => Answers,
  comment: string,
  test?: boolean,
];

const DATABASE = { name: "app" };
const USER = { name: "web", password: "x" };
const GRANT = { name: "g", grant: "select", database: "app.*", user: "web" };

const REFUSALS: readonly Case[] = [
  [
    "mysql_database.present",
    { ...DATABASE, character_set: "utf8" },
    (no) => ({ "mysql.db_get": () => map({ character_set: "latin1", collate: "x" }), "mysql.alter_db": no }),
    "Failed to update database app (MySQL Error 1044: denied)",
  ],
  [
    "mysql_database.present",
    DATABASE,
    (no) => ({ "mysql.db_get": () => new Map(), "mysql.db_create": no }),
    "Failed to create database app (MySQL Error 1044: denied)",
  ],
  ["mysql_database.present", DATABASE, (no) => ({ "mysql.db_get": no }), "MySQL Error 1044: denied"],
  [
    "mysql_database.absent",
    DATABASE,
    (no) => ({ "mysql.db_exists": true, "mysql.db_remove": no }),
    "Unable to remove database app (MySQL Error 1044: denied)",
  ],
  [
    "mysql_user.present",
    USER,
    (no) => ({ "mysql.user_exists": false, "mysql.user_create": no }),
    "Failed to create user web@localhost (MySQL Error 1044: denied)",
  ],
  [
    "mysql_user.present",
    USER,
    (no) => ({ "mysql.user_exists": inTurn(false, true), "mysql.user_chpass": no }),
    "Failed to change password for user web@localhost (MySQL Error 1044: denied)",
  ],
  // A socket is asked for, and a password that the user has would be cleared: that needs allow_passwordless.
  [
    "mysql_user.present",
    { name: "web", unix_socket: true },
    () => ({ "mysql.user_exists": inTurn(false, true) }),
    "Password for user web@localhost is set to be cleared, but allow_passwordless != True",
    true,
  ],
  [
    "mysql_user.present",
    { name: "web", unix_socket: true },
    (no) => ({ "mysql.user_exists": inTurn(false, true), "mysql.user_chpass": no }),
    "Failed to clear password for user web@localhost (MySQL Error 1044: denied). Note: allow_passwordless must be True to " +
    "permit passwordless login.",
  ],
  [
    "mysql_grants.absent",
    GRANT,
    (no) => ({ "mysql.grant_exists": no }),
    "Unable to determine if grant select on app.* for web@localhost exists (MySQL Error 1044: denied)",
  ],
  [
    "mysql_grants.absent",
    GRANT,
    (no) => ({ "mysql.grant_exists": true, "mysql.grant_revoke": no }),
    "Unable to revoke grant select on app.* for web@localhost (MySQL Error 1044: denied)",
  ],
  [
    "mysql_query.run",
    { ...DATABASE, database: "app", query: "select 1", output: "grain" },
    () => ({ "mysql.db_exists": true }),
    "Error: output type 'grain' needs the grain parameter\n",
  ],
  [
    "mysql_query.run",
    { ...DATABASE, database: "app", query: "select 1", output: "grain", key: "k" },
    () => ({ "mysql.db_exists": true }),
    "Error: output type 'grain' needs the grain parameter\n",
  ],
  [
    "mysql_query.run",
    { ...DATABASE, database: "app", query: "select 1" },
    () => ({ "mysql.db_exists": true, "mysql.query": false }),
    "The statements in database app could not be run",
  ],
  [
    "mysql_query.run",
    { ...DATABASE, database: "app", query: "select 1" },
    (no) => ({ "mysql.db_exists": true, "mysql.query": no }),
    "MySQL Error 1044: denied",
  ],
  [
    "mysql_query.run",
    { ...DATABASE, database: "app", query: "select 1", client_flags: "x" },
    () => ({}),
    "Error: client_flags must be a list.",
  ],
  [
    "mysql_query.run_file",
    { ...DATABASE, database: "app", query_file: "/dev/null", client_flags: "x" },
    () => ({}),
    "Error: client_flags must be a list.",
  ],
];

for (const [fun, args, answers, comment, test = false] of REFUSALS) {
  Deno.test(`${fun}: ${comment.trimEnd()}`, async () => {
    const job = testContext({ signal: new AbortController().signal });
    const given = await scriptedState(fun, args, answers(refused(job)), { test, job });
    assertEquals([given.result, given.comment, given.changes], [false, comment, new Map()]);
  });
}

Deno.test("mysql_query.run puts rows into a grain, or a key of it, and leaves what is there", async () => {
  const result = () => map({ "rows affected": 1, columns: ["a", "b"], results: [[1, 2], [3]] });
  const rows = map({ "rows affected": 1, columns: ["a", "b"], results: [{ a: 1, b: 2 }, { a: 3, b: null }] });
  const run = async (args: Readonly<Record<string, unknown>>, facts: Readonly<Record<string, unknown>>) => {
    const stored: unknown[] = [];
    const given = await scriptedState(
      "mysql_query.run",
      { ...DATABASE, database: "app", query: "select 1", output: "grain", grain: "facts", ...args },
      {
        "mysql.db_exists": true,
        "mysql.query": result,
        "grains.ls": Object.keys(facts),
        "grains.get": ([name]) => map(facts).get(name) ?? "",
        "grains.setval": (list) => (stored.push(...list), true),
      },
    );
    return { result: given.result, changes: given.changes, comment: given.comment, stored };
  };
  const whole = await run({}, {});
  assertEquals(whole.changes, map({ query: "Executed. Output into grain: facts" }));
  assertEquals(whole.stored, ["facts", rows]);
  const part = await run({ key: "k" }, { facts: { other: 1 } });
  assertEquals(part.changes, map({ query: "Executed. Output into grain: facts:k" }));
  assertEquals(part.stored, ["facts", new Map([...map({ other: 1 }), ["k", rows]])]);
  for (
    const [args, facts, there] of [
      [{}, { facts: 1 }, true],
      [{ key: "k" }, { facts: { k: 1 } }, true],
      [{ key: "k" }, { facts: { other: 1 } }, false],
      [{}, { other: 1 }, false],
    ] as const
  ) {
    const kept = await run({ ...args, overwrite: false }, facts);
    assertEquals([kept.result, kept.stored.length === 0], [true, there]);
    if (there) {
      const place = "key" in args ? "facts:k" : "facts";
      assertEquals(kept.comment, `No execution needed. Grain ${place} already set`);
    }
  }
});

Deno.test("mysql_query.run_file keeps a result that has no rows", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/q.sql`, "update a set b = 1");
    const given = await scriptedState(
      "mysql_query.run_file",
      { ...DATABASE, database: "app", query_file: `${root}/q.sql`, output: `${root}/out` },
      { "mysql.db_exists": true, "mysql.file_query": () => map({ "rows affected": 2 }) },
    );
    assertEquals([given.result, given.changes], [true, map({ query: `Executed. Output into ${root}/out` })]);
    assertEquals(Deno.readTextFileSync(`${root}/out`), "rows affected:2\n");
  }));
