/**
 * Jobs in PostgreSQL: the store does what every store does, refuses what it cannot work with, and with the database
 * away nothing that was acknowledged is lost.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { StoreError } from "#lib/errors.ts";
import { PostgresRows } from "#lib/stores/postgres_rows.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { connectDatabase, DatabaseAwayError, DatabaseRefusalError } from "#lib/stores/postgres_connection.ts";
import { makePartitions, partitionsOf } from "#lib/stores/postgres_schema.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { overRows, runStoreTest, STORE_TESTS } from "./store_conformance.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

function rowsAt(port: number, more: Readonly<Record<string, string>> = {}, waitMs = 10_000): PostgresRows {
  const postgresql = map({ host: "127.0.0.1", port, ...more });
  return new PostgresRows({ connection: postgresOptions({ postgresql }), waitMs, keepSeconds: 86_400 });
}

Deno.test({
  name: named("postgresql does what every job store does"),
  ignore: missing,
  async fn(context) {
    await using server = await startPostgres();
    for (const [i, test] of STORE_TESTS.entries()) {
      await context.step(
        test.what,
        () => runStoreTest(test, () => overRows(rowsAt(server.port, { schema: `salt_${i}` }))),
      );
    }
  },
});

Deno.test({
  name: named("what cannot work is refused with what to do: password, database, certificate, TLS, a newer schema"),
  ignore: missing,
  async fn() {
    await using server = await startPostgres({ auth: "scram-sha-256" });
    const refused = async (more: Readonly<Record<string, string>>, words: string) => {
      const rows = rowsAt(server.port, { pass: "salt", ...more });
      const error = await assertRejects(() => rows.open(), DatabaseRefusalError, words);
      await rows.close();
      return error;
    };
    await refused({ pass: "wrong" }, "set postgresql.user and postgresql.pass or pass_file");
    await refused({ db: "nosuch" }, "create the database");
    await refused({ sslmode: "require" }, "has no TLS");
    await refused({ pass_file: "/nonexistent/pass" }, "there is no file /nonexistent/pass");
    const rows = rowsAt(server.port, { pass: "salt" });
    await rows.open();
    await rows.close();
    await server.sql("update salt.meta set schema = 9, oldest_reader = 9");
    await refused({}, "of a newer version");
    await server.sql("update salt.meta set oldest_reader = 1");
    const older = rowsAt(server.port, { pass: "salt" });
    assertEquals((await older.status()).schema, 9);
    // A value that PostgreSQL refuses is refused alone.
    const write = (id: string, retcode: number) =>
      older.saveReturn({ jid: "20240102030405000001", id, retcode, success: true, body: new Uint8Array([0xc0]) });
    const [good, bad] = await Promise.allSettled([write("web1", 0), write("web2", 2 ** 40)]);
    assertEquals(good, { status: "fulfilled", value: "stored" });
    assert(bad.status === "rejected" && bad.reason instanceof StoreError, String(bad));
    assertStringIncludes(bad.reason.message, "refuses a value");
    await older.close();
    await server.sql("alter database salt set default_transaction_read_only = on");
    const standby = rowsAt(server.port, { pass: "salt", sslmode: "disable" });
    await assertRejects(() => standby.open(), DatabaseAwayError, "takes no writes");
    await standby.close();
  },
});

Deno.test({
  name: named("a certificate is refused unless it is trusted and names the host"),
  ignore: missing,
  async fn() {
    await using server = await startPostgres({ tls: true });
    const open = async (more: Readonly<Record<string, string>>) => {
      const rows = rowsAt(server.port, more);
      await rows.open().finally(() => rows.close());
    };
    const words = "set postgresql.sslrootcert to the authority";
    await open({ sslmode: "require" });
    await assertRejects(() => open({ sslmode: "verify-ca" }), DatabaseRefusalError, words);
    // The server reads its key as another user: this file may be read by all.
    const sslrootcert = server.certificate;
    await assertRejects(() => open({ sslmode: "verify-full", sslrootcert }), DatabaseRefusalError, words);
    await open({ sslmode: "verify-full", sslrootcert, host: "localhost" });
  },
});

Deno.test({
  name: named("when jobs are kept for a shorter time, days that have a partition keep it, and later hours get theirs"),
  ignore: missing,
  async fn() {
    await using server = await startPostgres();
    const rows = rowsAt(server.port);
    await rows.open();
    await rows.close();
    const connection = postgresOptions({ postgresql: map({ host: "127.0.0.1", port: server.port }) });
    const client = await connectDatabase(connection, { statementMs: 10_000, onEnd: () => {} });
    const noon = Date.UTC(2037, 2, 9, 12);
    const partitions = async (keepSeconds: number, nowMs: number) => {
      await makePartitions(client, "salt", { keepSeconds, nowMs });
      const all = await partitionsOf(client, "salt", "jobs");
      return all.map(({ name }) => name).filter((name) => name.startsWith("jobs_2037")).sort();
    };
    try {
      const days = ["jobs_20370309", "jobs_20370310"];
      assertEquals(await partitions(3 * 86_400, noon), days);
      // All of the next day lies in partitions that are there.
      assertEquals(await partitions(3_600, noon - 43_200_000), days);
      assertEquals(await partitions(3_600, noon + 43_200_000), [...days, "jobs_2037031100"]);
    } finally {
      await client.end();
    }
  },
});

Deno.test("a database that nobody answers for is away, and says so", async () => {
  const rows = rowsAt(1, {}, 0);
  const store = overRows(rows);
  await assertRejects(() => store.prepare("20240102030405000001"), StoreError, "does not answer");
  await store.close();
});
