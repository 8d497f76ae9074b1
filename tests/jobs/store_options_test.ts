/**
 * Options of job stores that cannot be used.
 * @module
 */

import { PreflightError } from "#lib/errors.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { jobStoreKind, sqlitePath } from "#lib/stores/store_options.ts";
import { tlsSettings } from "#lib/stores/postgres_connection.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("options of a job store that cannot be used are refused with what they must be", () => {
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ user: 5 }, "postgresql.user must be a text, and is 5"],
    [{ port: 0 }, "postgresql.port must be a number above 0, and is 0"],
    [{ port: "5432" }, "postgresql.port must be a number above 0, and is 5432"],
    [{ connect_timeout: -1 }, "postgresql.connect_timeout must be a number above 0, and is -1"],
    [{ host: "" }, "postgresql.host must be a name or a list of names, and is "],
    [{ host: ["db1", 2] }, "postgresql.host must be a name or a list of names, and is something else"],
    [{ host: {} }, "postgresql.host must be a name or a list of names, and is something else"],
    [
      { sslmode: "on" },
      "postgresql.sslmode must be one of disable, prefer, require, verify-ca, verify-full, and is on",
    ],
    [{ schema: "Salt" }, "postgresql.schema must be a name of small letters, digits and _, and is Salt"],
    [{ schema: 'x"; drop' }, "postgresql.schema must be a name of small letters, digits and _"],
    [{ hostname: "db1" }, "postgresql has no option hostname; it has host, port,"],
  ];
  for (const [postgresql, why] of cases) {
    assertThrows(() => postgresOptions({ postgresql: map({ ...postgresql }) }), PreflightError, why);
  }
  const { hosts, port, sslmode, connectTimeoutMs } = postgresOptions({
    postgresql: map({ host: ["a", "b"], pass: null }),
  });
  assertEquals([hosts, port, sslmode, connectTimeoutMs], [["a", "b"], 5432, "prefer", 5_000]);
  const sqlite = (given: Readonly<Record<string, unknown>>) =>
    sqlitePath({ sqlite: map({ ...given }), cachedir: "/c" });
  for (const path of ["jobs.db", 5]) {
    assertThrows(() => sqlite({ path }), PreflightError, "sqlite.path must be an absolute path, or null");
  }
  assertThrows(() => sqlite({ file: "/x" }), PreflightError, "sqlite has no option file; it has path");
  assertEquals([sqlite({}), sqlite({ path: "/x" })], ["/c/jobs.sqlite", "/x"]);
});

Deno.test("a database is the only store of a master's jobs", () => {
  const kind = (master_job_cache: string) => jobStoreKind({ master_job_cache });
  assertEquals(["local_cache", "mysql", "redis,local_cache", "sqlite", " postgresql "].map(kind), [
    ...["local_cache", "local_cache", "local_cache"],
    "sqlite",
    "postgresql",
  ]);
  for (const both of ["sqlite,redis", "local_cache, postgresql"]) {
    assertThrows(() => kind(both), PreflightError, "is the store of all jobs, and stands alone");
  }
});

Deno.test("of libpq's words for TLS only verify-full checks the name", () => {
  const names = (sslmode: Parameters<typeof tlsSettings>[0]["sslmode"]) => {
    const settings = tlsSettings({ sslmode, ca: undefined, cert: undefined, key: undefined });
    return settings === false ? "none" : [settings.rejectUnauthorized, settings.checkServerIdentity === undefined];
  };
  assertEquals([names("disable"), names("require"), names("verify-ca"), names("verify-full")], [
    "none",
    [false, true],
    [true, false],
    [true, true],
  ]);
});
