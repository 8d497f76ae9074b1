/**
 * The module `mysql` and its states against a real server: the same calls, one after the other, have the results that
 * Python Salt had.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { valueQuoting } from "#lib/host/mysql/quoting.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { int, isMap, map, type Value } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import {
  changeStatement,
  createStatement,
  existsStatement,
  serverKind,
  type UserLogin,
} from "#modules/execution/mysql/user_statements.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { type DatabaseServer, serverProgram, startMariadb } from "#tests/support/database_servers.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Step {
  readonly fun: string;
  readonly args?: readonly Value[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly test?: boolean;
  readonly result?: unknown;
  readonly raises?: string;
  readonly ours?: unknown;
}

const { script, steps }: { readonly script: string; readonly steps: readonly Step[] } = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/mysql.json", import.meta.url)),
);

/** A result without the times of queries, as the corpus has them. */
function withoutQueryTimes(value: Value): Value {
  if (isMap(value)) {
    return new Map(
      [...value].filter(([key]) => key !== "query time").map(([key, one]) => [key, withoutQueryTimes(one)]),
    );
  }
  if (Array.isArray(value)) return value.map(withoutQueryTimes);
  return typeof value === "string" ? value.replace(/'query time': \{[^}]*\}(?:, )?/g, "") : value;
}

const MISSING = serverProgram("mariadbd") === undefined;
const SKIPPED = MISSING ? " (skipped: there is no mariadbd)" : "";

Deno.test({
  name: `mysql and its states do as Python Salt's, call by call${SKIPPED}`,
  ignore: MISSING,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using server = await startMariadb();
      const file = `${root}/script.sql`;
      await Deno.writeTextFile(file, script);
      const options = { "mysql.host": "127.0.0.1", "mysql.port": int(BigInt(server.port)), "mysql.user": "root" };
      for (const [i, step] of steps.entries()) {
        const label = `${i}: ${step.fun} ${JSON.stringify(step.args ?? [])} ${
          JSON.stringify(step.kwargs)
        } ${step.test}`;
        const within = (value: unknown): Value =>
          parseJson((JSON.stringify(value) ?? "null").replaceAll("{file}", file));
        // Each call is a job of its own: errors are those of its job.
        const signal = new AbortController().signal;
        const context = testContext({ opts: testOpts({ root_dir: root, ...options }), signal });
        const kwargs = mapOrEmpty(within(step.kwargs));
        const given: Value = step.fun.startsWith("mysql.")
          ? await context.call(step.fun, listOrEmpty(within(step.args)), kwargs)
          : await callState(step.fun, kwargs, { job: context, test: step.test ?? false });
        assert("result" in step || "ours" in step, `${label} has a result`);
        assertEquals(withoutQueryTimes(given), within("ours" in step ? step.ours : step.result), label);
      }
    }),
});

/** A call on a fresh server as root, which a test names. */
function withServer(name: string, test: (call: Call, root: string, server: DatabaseServer) => Promise<void>): void {
  Deno.test({
    name: `${name}${SKIPPED}`,
    ignore: MISSING,
    fn: () =>
      withTemporaryDirectory(async (root) => {
        await using server = await startMariadb();
        const options = { "mysql.host": "127.0.0.1", "mysql.port": int(BigInt(server.port)), "mysql.user": "root" };
        const opts = testOpts({ root_dir: root, ...options });
        await test(
          (fun, args, kwargs = {}) =>
            fun.startsWith("mysql.")
              ? testContext({ opts }).call(fun, [...args], map(kwargs))
              : callState(fun, kwargs, { job: testContext({ opts }) }),
          root,
          server,
        );
      }),
  });
}

type Call = (fun: string, args: readonly Value[], kwargs?: Readonly<Record<string, unknown>>) => Promise<Value>;

withServer(
  "mysql: no name, password or privilege becomes SQL, also where a backslash is a letter",
  async (call, _, server) => {
    const evil = "x\\' OR 1=1 -- ";
    for (const mode of ["NO_BACKSLASH_ESCAPES", ""]) {
      await server.sql(`SET GLOBAL sql_mode='${mode}';`);
      assertEquals(await call("mysql.user_exists", [evil]), false);
      assertEquals(await call("mysql.db_exists", [evil]), false);
      assertEquals(await call("mysql.user_create", [evil.slice(0, 12), "localhost", evil]), true);
      assertEquals(await call("mysql.verify_login", [evil.slice(0, 12), evil]), true);
      assertEquals(await call("mysql.user_remove", [evil.slice(0, 12)]), true);
    }
    for (const grant of ["SELECT ON *.* TO salt@localhost; DROP", "SELECT; DROP", "SELECT (a) ON x.y", "GRANT"]) {
      assertEquals(await call("mysql.grant_add", [grant, "shop.*", "salt"]), false, grant);
    }
    for (const database of ["x.* TO salt@localhost; DROP DATABASE salt -- .*", "a b.*"]) {
      assertEquals(await call("mysql.grant_add", ["SELECT", database, "salt"], { escape: false }), false, database);
    }
    assertEquals(await call("mysql.db_exists", ["salt"]), true);
    const socket = { unix_socket: true };
    const refused: readonly (readonly [fun: string, args: readonly Value[], kwargs?: object, answer?: Value])[] = [
      ...["mysql", "information_schema", "none"].map((name) => ["mysql.db_remove", [name]] as const),
      ["mysql.user_create", ["nobody"]],
      ["mysql.user_create", ["nobody", "far"], socket],
      ["mysql.user_exists", ["nobody"]],
      ["mysql.user_chpass", ["salt"]],
      ["mysql.user_info", ["nobody"], {}, null],
      ["mysql.slave_lag", [], {}, -1],
      ["mysql.plugin_add", ["unix_socket"], {}, true],
      ["mysql.plugin_remove", ["none"], {}, true],
    ];
    for (const [fun, args, kwargs = {}, answer = false] of refused) {
      assertEquals(await call(fun, args, { ...kwargs }), answer, `${fun} ${args}`);
    }
    // What the operator has quoted is taken as it is.
    await call("mysql.user_create", ["ann"], { allow_passwordless: true });
    for (const database of ["salt.*", "`salt`.*"]) {
      assertEquals(await call("mysql.grant_add", ["SELECT", database, "ann"], { escape: false }), true, database);
    }
    assertEquals(
      await call("mysql.grant_add", ["SELECT", "salt.*", "salt"], { ssl_option: [{ NOSUCH: true }] }),
      false,
    );
    const several = mapOrEmpty(await call("mysql.query", ["salt", "SELECT 1 AS a; SELECT 2 AS b"]));
    assertEquals([several.get("columns"), several.get("results")], [new Tuple(["a"]), new Tuple([new Tuple(["1"])])]);
    assert(listOrEmpty(await call("mysql.plugins_list", [])).some((one) => mapOrEmpty(one).get("name") === "InnoDB"));
    assertEquals(await call("mysql.user_create", ["joe", "localhost"], socket), true);
    assertEquals(await call("mysql.user_exists", ["joe"], { passwordless: true, ...socket }), true);
  },
);

withServer("mysql connects as a file says, whatever the options say", async (call, root, server) => {
  const file = `${root}/my.cnf`;
  const rest = "[mysqld]\nuser = nobody\n!includedir /nonexistent\n";
  await Deno.writeTextFile(
    file,
    `# a comment\n[client]\nhost = "127.0.0.1"\nport=${server.port} # a comment\nuser = salt\npassword = 'wrong'\n[own]\npassword=salt\n${rest}`,
  );
  const own = { connection_default_file: file, connection_default_group: "own" };
  assertEquals(
    await call("mysql.query", ["salt", "SELECT CURRENT_USER() AS me"], own).then(results),
    new Tuple([new Tuple(["salt@localhost"])]),
  );
  assertEquals(await call("mysql.db_list", [], { connection_default_file: file }), []);
  const nowhere = { connection_host: "localhost", connection_unix_socket: `${root}/nothing.sock` };
  const failed = await call("mysql_database.present", [], { name: "x", ...nowhere });
  assertEquals(
    isMap(failed) && failed.get("comment"),
    `MySQL Error 2002: Can't connect to local MySQL server through socket '${root}/nothing.sock' (ENOENT)`,
  );
});

function results(value: Value): Value {
  return isMap(value) ? value.get("results") ?? null : value;
}

withServer("mysql_query puts results into a file, and runs the statements of a file", async (call, root) => {
  await Deno.writeTextFile(
    `${root}/words.sql`,
    "-- a comment; with a semicolon\nCREATE TABLE words (\n  id INT, -- the id\n  word TEXT\n);\n/* more; */ INSERT INTO words VALUES\n(1, 'a;b'),\n(2, NULL);\nSELECT id, word\nFROM words ORDER BY id;\nUPDATE words SET word = 'c'",
  );
  const common = { name: "words", database: "salt" };
  const made = await call("mysql_query.run_file", [], { ...common, query_file: `${root}/words.sql` });
  assertEquals(isMap(made) && [made.get("result"), made.get("changes")], [true, map({ query: "Executed" })]);
  const comment = isMap(made) ? String(made.get("comment")) : "";
  assertStringIncludes(comment, "'results': [{'id': '1', 'word': 'a;b'}, {'id': '2', 'word': None}]");
  assertStringIncludes(comment, "'rows affected': 4");
  const query = "SELECT id, word FROM words ORDER BY id";
  const out = { ...common, query, output: `${root}/out.txt` };
  const stored = await call("mysql_query.run", [], out);
  assertEquals(isMap(stored) && stored.get("changes"), map({ query: `Executed. Output into ${root}/out.txt` }));
  assertEquals(await Deno.readTextFile(`${root}/out.txt`), "id:1\nword:c\nid:2\nword:c\n");
  const kept = await call("mysql_query.run", [], { ...out, overwrite: false });
  assertEquals(isMap(kept) && kept.get("comment"), `No execution needed. File ${root}/out.txt already set`);
  if (Deno.uid() !== 0) return;
  // In a directory of another user, a link of theirs to root's file.
  Deno.chmodSync(root, 0o755);
  Deno.mkdirSync(`${root}/theirs`);
  Deno.writeTextFileSync(`${root}/roots`, "as it was");
  Deno.symlinkSync(`${root}/roots`, `${root}/theirs/out.txt`);
  Deno.chownSync(`${root}/theirs`, 65534, 65534);
  const linked = call("mysql_query.run", [], { ...out, output: `${root}/theirs/out.txt` });
  await assertRejects(() => linked, CommandError, "not followed as root");
  assertEquals(await Deno.readTextFile(`${root}/roots`), "as it was");
});

Deno.test("the statements for users are Salt's for each server and login", () => {
  const quote = valueQuoting(true);
  const kinds = {
    "MySQL 5.7": serverKind("5.7.44-log", "authentication_string"),
    "MySQL 8": serverKind("8.0.11", "authentication_string"),
    "MariaDB 10.3": serverKind("10.3.39-MariaDB", "Password"),
    "MariaDB 10.4": serverKind("10.4.0-MariaDB-1:10.4", "authentication_string"),
  };
  assertEquals(Object.values(kinds).map(({ hasAlterUser }) => hasAlterUser), [false, true, false, true]);
  const none: UserLogin = {
    ...{ user: "o'x", host: "localhost", password: null, passwordHash: null, isPasswordless: false, bySocket: false },
    ...{ column: null, plugin: "mysql_native_password" },
  };
  const found = "SELECT User,Host FROM mysql.user WHERE User = 'o''x' AND Host = 'localhost'";
  const user = "'o''x'@'localhost'", at = " WHERE User='o''x' AND Host='localhost'";
  const [column, old] = ["`authentication_string`", "`Password`"];
  const [native, sha2] = ["'mysql_native_password'", "caching_sha2_password"];
  // The hash that MySQL's manual has for this password.
  const hash = "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4", bySocket = { isPasswordless: true, bySocket: true };
  const update = "UPDATE mysql.user SET", create = `CREATE USER ${user}`, alter = `ALTER USER ${user} IDENTIFIED`;
  const cases: readonly (readonly [keyof typeof kinds, Partial<UserLogin>, readonly [string, string, string]])[] = [
    ["MySQL 5.7", { password: "mypass" }, [
      `${found} AND ${column} = PASSWORD('mypass')`,
      `${create} IDENTIFIED BY 'mypass'`,
      `${update} ${column}=PASSWORD('mypass')${at}`,
    ]],
    ["MySQL 5.7", { passwordHash: hash }, [
      `${found} AND ${column} = '${hash}'`,
      `${create} IDENTIFIED BY PASSWORD '${hash}'`,
      `${update} ${column}='${hash}'${at}`,
    ]],
    ["MySQL 5.7", bySocket, [
      `${found} AND plugin = 'auth_socket'`,
      `${create} IDENTIFIED WITH auth_socket`,
      `${update} ${column}='', plugin='auth_socket'${at}`,
    ]],
    ["MySQL 8", { password: "mypass" }, [
      `${found} AND ${column} = '${hash}'`,
      `${create} IDENTIFIED WITH ${native} BY 'mypass'`,
      `${alter} WITH ${native} BY 'mypass'`,
    ]],
    ["MySQL 8", { password: "mypass", plugin: sha2 }, [
      found,
      `${create} IDENTIFIED WITH '${sha2}' BY 'mypass'`,
      `${alter} WITH '${sha2}' BY 'mypass'`,
    ]],
    ["MySQL 8", { passwordHash: hash }, [
      `${found} AND ${column} = '${hash}'`,
      `${create} IDENTIFIED WITH ${native} AS '${hash}'`,
      `${alter} WITH ${native} AS '${hash}'`,
    ]],
    ["MySQL 8", { isPasswordless: true }, [`${found} AND ${column} = ''`, create, `${alter} WITH ${native}`]],
    ["MySQL 8", bySocket, [
      `${found} AND plugin = 'auth_socket'`,
      `${create} IDENTIFIED WITH auth_socket`,
      `${alter} WITH 'auth_socket' AS 'o''x'`,
    ]],
    ["MariaDB 10.3", { password: "a\\'" }, [
      `${found} AND ${old} = PASSWORD('a\\\\''')`,
      `${create} IDENTIFIED BY 'a\\\\'''`,
      `${update} ${old}=PASSWORD('a\\\\''')${at}`,
    ]],
    ["MariaDB 10.3", bySocket, [
      `${found} AND plugin = 'unix_socket'`,
      `${create} IDENTIFIED VIA unix_socket`,
      `${update} ${old}='', plugin='unix_socket'${at}`,
    ]],
    ["MariaDB 10.4", { password: "mypass" }, [
      `${found} AND ${column} = PASSWORD('mypass')`,
      `${create} IDENTIFIED BY 'mypass'`,
      `${alter} VIA ${native} USING PASSWORD('mypass')`,
    ]],
    ["MariaDB 10.4", { isPasswordless: true }, [
      `${found} AND ${column} = ''`,
      create,
      `${alter} VIA ${native} USING ''`,
    ]],
  ];
  for (const [name, more, statements] of cases) {
    const login = { ...none, ...more }, kind = kinds[name], { sql, error } = existsStatement(login, kind, quote);
    assertEquals([sql, createStatement(login, kind, quote), changeStatement(login, kind, quote)], statements);
    assertEquals(error, more.plugin === undefined ? undefined : "Unable to verify password.");
  }
});
