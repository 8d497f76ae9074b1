/**
 * The module `mysql` with servers of this test: other versions than the host's, slaves, and one that ends a connection.
 * @module
 */

import { columnText, columnValue } from "#lib/host/mysql/column_values.ts";
import { takeMysqlError } from "#lib/host/mysql/last_error.ts";
import { ALL_PRIVILEGES } from "#lib/host/mysql/privileges.ts";
import { float, int, map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { type MysqlAnswer, type MysqlScript, startMysqlScript } from "#tests/support/servers/mysql_script.ts";

const MYSQL_5 = "5.7.44", MYSQL_8 = "8.0.36", MARIADB = "10.11.6-MariaDB";

/** Runs `act` with a job that asks a server. */
async function withScript(
  version: string,
  answer: (statement: string) => MysqlAnswer,
  act: (
    call: (fun: string, args?: Value[], kwargs?: object) => Promise<Value>,
    server: MysqlScript,
    job: TestContext,
  ) => Promise<void>,
): Promise<void> {
  await using server = startMysqlScript(version, answer);
  const opts = testOpts({ "mysql.host": "127.0.0.1", "mysql.port": server.port, "mysql.user": "root" });
  const job = testContext({ opts, signal: new AbortController().signal });
  await act((fun, args = [], kwargs = {}) => job.call(`mysql.${fun}`, args, map({ ...kwargs })), server, job);
}

/** What a server says about its user joe, who logs in by a plugin. */
function aboutJoe(statement: string, plugin = "mysql_native_password"): MysqlAnswer {
  if (statement.startsWith("SELECT plugin")) return [{ plugin }];
  if (statement.startsWith("SELECT User,Host")) return [{ User: "joe", Host: "localhost" }];
  return statement.includes("information_schema.COLUMNS") ? [] : 0;
}

Deno.test("mysql.grant_exists: all privileges of MySQL 8 are those that the server knows", async () => {
  let known: { Privilege: string }[] = [];
  let granted: readonly string[] = [];
  const answer = (statement: string) => {
    if (statement === "SHOW PRIVILEGES") return known;
    if (!statement.startsWith("SHOW GRANTS")) return aboutJoe(statement);
    return granted.map((names) => ({ grant: `GRANT ${names} ON *.* TO \`joe\`@\`localhost\`` }));
  };
  await withScript(MYSQL_8, answer, async (call) => {
    const hasAll = () => call("grant_exists", ["all privileges", "*.*", "joe"]);
    known = ["Select", "Create role", "Grant option", "Usage", "Proxy", "ROLE_ADMIN"].map((Privilege) => ({
      Privilege,
    }));
    granted = ["SELECT, CREATE ROLE", "ROLE_ADMIN"];
    assertEquals(await hasAll(), true);
    granted = ["SELECT, CREATE ROLE"];
    assertEquals(await hasAll(), false);
    // A server that does not say what it knows.
    known = [];
    assertEquals(await hasAll(), false);
    granted = [ALL_PRIVILEGES.join(", ")];
    assertEquals(await hasAll(), true);
  });
});

Deno.test("mysql: a password that cannot be checked is told, and the named column is asked for", async () => {
  const answer = (statement: string) => aboutJoe(statement, "caching_sha2_password");
  await withScript(MYSQL_8, answer, async (call, server, job) => {
    assertEquals(await call("user_exists", ["joe", "localhost", "secret"], { password_column: "own" }), true);
    assertEquals(server.statements.some((one) => one.includes("information_schema.COLUMNS")), false);
    assertEquals(takeMysqlError(job), "Unable to verify password.");
  });
  await withScript(MYSQL_5, aboutJoe, async (call, server) => {
    await call("user_exists", ["joe"], { passwordless: true, password_column: "own" });
    assertEquals(server.statements.at(-1)?.endsWith("AND `own` = ''"), true);
  });
});

Deno.test("mysql.user_chpass: an old server says whether the user was changed", async () => {
  let changes = 0;
  const answer = (statement: string) => statement.startsWith("UPDATE") ? changes : aboutJoe(statement);
  await withScript(MYSQL_5, answer, async (call, server) => {
    const change = () => call("user_chpass", ["joe", "localhost", "new"]);
    assertEquals([await change(), server.statements.includes("FLUSH PRIVILEGES")], [false, false]);
    changes = 1;
    assertEquals([await change(), server.statements.at(-1)], [true, "FLUSH PRIVILEGES"]);
  });
});

Deno.test("mysql.free_slave frees a slave from its master, also if that flushes no logs", async () => {
  let slave: { Master_Host: string }[] = [];
  let flushed: MysqlAnswer = 0, left = 0;
  const answer = (statement: string): MysqlAnswer => {
    if (statement === "FLUSH LOGS") return flushed;
    if (statement === "RESET MASTER" && left === 2) return new Error("Binlog closed, cannot RESET MASTER");
    if (statement.startsWith("CHANGE MASTER") && left === 0) slave = [];
    return statement === "SHOW SLAVE STATUS" ? slave : 0;
  };
  await withScript(MARIADB, answer, async (call, server, job) => {
    await assertRejects(() => call("free_slave"), Error, "This server is no slave");
    const freed = async (host: string) => {
      slave = [{ Master_Host: host }];
      server.statements.length = 0;
      return await call("free_slave");
    };
    assertEquals(await freed("127.0.0.1"), "promoted");
    assertEquals(server.statements, [
      "SHOW SLAVE STATUS",
      "FLUSH LOGS",
      "STOP SLAVE",
      "RESET MASTER",
      "CHANGE MASTER TO MASTER_HOST=''",
      "SHOW SLAVE STATUS",
    ]);
    flushed = new Error("Access denied; you need (at least one of) the RELOAD privilege(s)");
    assertEquals([await freed("127.0.0.1"), takeMysqlError(job)], ["promoted", undefined]);
    left = 1;
    assertEquals(await freed("127.0.0.1"), "failed");
    left = 2;
    assertEquals(await freed("127.0.0.1"), "failed");
    assertEquals(takeMysqlError(job), "MySQL Error 1111: Binlog closed, cannot RESET MASTER");
    // Its master does not answer: nothing is changed.
    assertEquals(await freed("127.0.0.2"), "");
    assertEquals(server.statements, ["SHOW SLAVE STATUS"]);
  });
});

Deno.test("mysql: plugins are installed and removed, the status is a map, and a lost connection is told", async () => {
  const plugins: Record<string, string> = {};
  const answer = (statement: string): MysqlAnswer => {
    const [verb, , name] = statement.split(" ");
    if (verb === "INSTALL") plugins[name.replaceAll("`", "")] = "ACTIVE";
    if (verb === "UNINSTALL") delete plugins[name.replaceAll("`", "")];
    if (statement === "SHOW STATUS") return [{ name: "Uptime", value: "5" }, { name: "Threads", value: "1" }];
    if (statement === "SHOW PLUGINS") return undefined;
    const asked = /PLUGIN_NAME = '(.*)'$/.exec(statement)?.[1];
    return asked === undefined ? 0 : asked in plugins ? [{ PLUGIN_STATUS: plugins[asked] }] : [];
  };
  await withScript(MARIADB, answer, async (call, server, job) => {
    assertEquals([await call("plugin_add", ["audit"]), server.statements.at(-1)], [
      true,
      "INSTALL PLUGIN `audit` SONAME 'audit.so'",
    ]);
    assertEquals(await call("plugin_status", ["audit"]), "ACTIVE");
    assertEquals([await call("plugin_remove", ["audit"]), plugins], [true, {}]);
    assertEquals(await call("plugin_add", ["audit", "own.so"]), true);
    assertEquals(server.statements.at(-1), "INSTALL PLUGIN `audit` SONAME 'own.so'");
    assertEquals(await call("status"), map({ Uptime: "5", Threads: "1" }));
    const flags = ["compress", "COMPRESS", "nosuch"];
    assertEquals(await call("status", [], { client_flags: flags.slice(1) }), map({ Uptime: "5", Threads: "1" }));
    assertEquals(job.logged.map((line) => line.replace(/^error: MySQL client /, "")), [
      "flag COMPRESS not valid, ignoring.",
      "flag nosuch not valid, ignoring.",
    ]);
    assertEquals(await call("plugins_list"), []);
    const lost = takeMysqlError(job) ?? "";
    assertEquals(lost.slice(0, 55), "MySQL Error 2013: Lost connection to MySQL server (Conn");
  });
});

Deno.test("mysql.grant_add: what connections must have is a clause, and nothing if nothing is required", async () => {
  const answer = (statement: string) =>
    statement.startsWith("SHOW GRANTS")
      ? [{ grant: "GRANT SELECT ON `shop`.* TO `joe`@`localhost`" }]
      : aboutJoe(statement);
  await withScript(MARIADB, answer, async (call, server, job) => {
    const clause = async (...ssl_option: object[]) => {
      server.statements.length = 0;
      const kwargs = { ssl_option: ssl_option.map((one) => ({ ...one })) };
      assertEquals(await call("grant_add", ["SELECT", "shop.*", "joe"], kwargs), true);
      return server.statements[0].split("'localhost'")[1];
    };
    assertEquals(await clause({ SSL: true }, { issuer: "/C=A'B" }), " REQUIRE SSL AND ISSUER '/C=AB'");
    assertEquals([await clause({ SSL: false }), await clause()], ["", ""]);
    assertEquals(await call("grant_add", ["SELECT", "shop.*", "joe"], { ssl_option: [{ NOSUCH: true }] }), false);
    assertEquals(job.logged.at(-1), "error: Error during grant generation: Invalid SSL option : 'NOSUCH'");
  });
});

Deno.test("values of columns are numbers, texts and bytes", () => {
  const of = (columnType: number, text: string, characterSet = 45) =>
    columnValue({ name: "a", columnType, characterSet }, new TextEncoder().encode(text));
  assertEquals(of(8, "18446744073709551615"), int(18446744073709551615n));
  assertEquals(of(5, "1.0"), float(1));
  assertEquals(of(253, "a"), "a");
  assertEquals(of(253, "a", 63), Uint8Array.of(97));
  // A date has no character set either.
  assertEquals(of(12, "2026-01-31 00:00:00", 63), "2026-01-31 00:00:00");
  assertEquals(columnValue({ name: "a", columnType: 3 }, null), null);
  assertEquals(columnText({ name: "a", columnType: 3 }, Uint8Array.of(49)), "1");
});
