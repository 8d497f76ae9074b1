import { invoke } from "#lib/plugins/call.ts";
import { cluster_list } from "#modules/execution/deb_postgres.ts";
import { passwordLine } from "#lib/host/postgres/psql.ts";
import { exists } from "#lib/os/file_kind.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms, recordingContext } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "postgres");

Deno.test("postgres.owner_to changes the owner of a database and of its objects, where Salt's fails", async () => {
  using programs = new RecordedPrograms();
  programs.answer("psql");
  let script = "";
  const { context } = recordingContext((words) => {
    const file = words[words.indexOf("-f") + 1];
    if (words.includes("-f")) script = Deno.readTextFileSync(file);
    return words.join(" ").includes("information_schema.schemata") ? "n\npublic\n" : "";
  });
  const result = await context.call("postgres.owner_to", ["shop", "fred"], map({ host: "db" }));
  assertEquals(isMap(result) && result.get("retcode"), 0);
  assertEquals(
    script,
    'begin;\nalter database "shop" owner to "fred";\nalter schema public owner to "fred";\ncommit;\n',
  );
  script = "";
  const recursive = map({ owner: "fred", owner_recurse: true, host: "db" });
  assertEquals(await context.call("postgres.db_alter", ["shop"], recursive), true);
  assertEquals(script.includes('alter database "shop" owner to "fred";'), true, script);
  await assertRejects(
    () => context.call("postgres.owner_to", ["shop", 'fr"ed'], map({ host: "db" })),
    Error,
    "Unsupported",
  );
});

Deno.test("a line of libpq's password file: what is not given is any, and a colon belongs to its field", () => {
  const cases: readonly (readonly [Parameters<typeof passwordLine>[0], string, string])[] = [
    [{}, "pw", "localhost:*:*:*:pw"],
    [{ host: "/run/postgresql", user: "" }, "pw", "localhost:*:*:*:pw"],
    [{ host: "db", port: "5433", user: "fred" }, "a:b\\c", "db:5433:*:fred:a\\:b\\\\c"],
    [{ host: "::1", user: "a:b\\" }, "pw", "\\:\\:1:*:*:a\\:b\\\\:pw"],
  ];
  for (const [place, password, line] of cases) assertEquals(passwordLine(place, password), line);
});

Deno.test("psql and initdb have a password in a file of their own, which is gone afterwards", async () => {
  using programs = new RecordedPrograms();
  for (const program of ["psql", "initdb"]) programs.answer(program);
  const call = async (fun: string, args: Value[], kwargs: Record<string, Value>, options: Record<string, Value>) => {
    const seen: { path: string; text: string; mode: number; shown: string }[] = [];
    const context = testContext({
      opts: testOpts(options),
      runChild({ argv, env }) {
        const path = env?.PGPASSFILE ?? /--pwfile=(\S+)/.exec(argv.join(" "))?.[1];
        if (path !== undefined) {
          const mode = (Deno.statSync(path).mode ?? 0) & 0o777;
          seen.push({ path, text: Deno.readTextFileSync(path), mode, shown: argv.join(" ") });
        }
        const dropped = { stdout: 0, stderr: 0 }, nothing = new Uint8Array();
        return Promise.resolve({ pid: 1, retcode: 0, stdout: nothing, stderr: nothing, timedOut: false, dropped });
      },
    });
    await context.call(fun, args, map(kwargs));
    for (const { path, mode, shown } of seen) {
      assertEquals([exists(path), mode, shown.includes("secret")], [false, 0o600, false]);
    }
    return seen.map(({ text }) => text);
  };
  const configured = {
    "postgres.host": "db",
    "postgres.user": "admin",
    "postgres.port": "2",
    "postgres.pass": "secret",
  };
  const cases: readonly (readonly [Record<string, Value>, Record<string, Value>, string[]])[] = [
    [{ host: "db" }, {}, []],
    [{ host: "db", user: "fred", port: "1", password: "secret" }, {}, ["db:1:*:fred:secret"]],
    // The words of psql name the configured user and port, so the file does as well.
    [{}, configured, ["db:2:*:admin:secret"]],
    [{ runas: "root", password: "secret" }, { "postgres.user": "admin" }, ["localhost:*:*:admin:secret"]],
    [{ runas: "root", password: "secret" }, {}, ["localhost:*:*:root:secret"]],
  ];
  for (const [kwargs, options, lines] of cases) {
    assertEquals([...new Set(await call("postgres.db_list", [], kwargs, options))], lines);
  }
  const data = `${programs.path}/data`;
  const made = (password: Value) => call("postgres.datadir_init", [data], { runas: "root", password }, {});
  assertEquals([await made("secret"), await made(null)], [["secret"], []]);
});

Deno.test("postgres.cluster_list leaves out what is no line of a cluster", async () => {
  using programs = new RecordedPrograms();
  const stdout = "15 main 5432 online postgres /var/lib/postgresql/15/main /var/log/15.log\n16 half 5433 down\n";
  programs.answer("pg_lsclusters", [{ args: "--no-header", stdout }]);
  const given = { name: "postgres.cluster_list", args: [], kwargs: new Map(), context: testContext() };
  assertEquals(await invoke(cluster_list, given), ["15/main"]);
});
