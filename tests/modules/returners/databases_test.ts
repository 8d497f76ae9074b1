/**
 * Returners that store in databases, against real servers: what is stored is in Salt's tables, and is read again.
 * @module
 */

import { RETURNERS } from "#modules/returners/_built_in.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { dirName } from "#lib/os/paths.ts";
import { InvocationError, messageOf, UnstorableError } from "#lib/errors.ts";
import { connectPostgres } from "#modules/returners/_postgres_client.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { returnerContext } from "#tests/support/calls/returner_context.ts";
import { eventually } from "#tests/support/eventually.ts";
import {
  MYSQL_TABLES,
  POSTGRES_TABLES,
  type PostgresServer,
  startMariadb,
  startPostgres,
  startRedis,
  withServer,
} from "#tests/support/database_servers.ts";

const JID = "20261128010203000001";

/** A return with what databases are known to break: letters beyond ASCII, quotes, floats that are whole. */
function returned(id: string, jid = JID): ValueMap {
  return map({
    jid,
    id,
    fun: "test.echo",
    fun_args: ["ä'\"\\"],
    return: { text: "ä'\"\\ ✓ 💾", whole: 1, list: [1, null, true] },
    retcode: 0,
    success: true,
  });
}

const LOAD = map({ jid: JID, fun: "test.echo", arg: ["ä'\"\\"], tgt: "*", tgt_type: "glob", user: "root", ret: "" });

/** The functions of a returner with these options. */
function caller(name: string, options: Readonly<Record<string, unknown>>) {
  const family = loadFamily<ReturnerContext>(RETURNERS);
  const context = returnerContext(options);
  return async (fun: string, ...args: Value[]): Promise<Value> => {
    const found = await family.get(`${name}.${fun}`);
    assert(found !== undefined, `${name}.${fun}`);
    return await invoke(found, { name: `${name}.${fun}`, args, kwargs: new Map(), context });
  };
}

type Call = ReturnType<typeof caller>;

/** What every database does. */
async function storesAndReads(call: Call): Promise<void> {
  await call("save_load", JID, LOAD);
  // The load is stored once: another one neither fails nor makes a second job.
  await call("save_load", JID, LOAD);
  for (const id of ["web1", "web2"]) await call("returner", returned(id));
  const later = "20261128010203000002";
  await call("save_load", later, new Map([...LOAD, ["jid", later]]));
  await call("returner", returned("web1", later));
  assertEquals(await call("get_load", JID), LOAD);
  assertEquals(await call("get_load", "20000101000000000000"), new Map());
  assertEquals(await call("get_jid", JID), map({ web1: returned("web1"), web2: returned("web2") }));
  assertEquals(await call("get_fun", "test.echo"), map({ web1: returned("web1", later), web2: returned("web2") }));
  assertEquals(await call("get_fun", "test.nothing"), new Map());
  const jobs = await call("get_jids") as ValueMap;
  assertEquals([...jobs.keys()], [JID, later]);
  assertEquals((jobs.get(JID) as ValueMap).get("StartTime"), "2026, Nov 28 01:02:03.000001");
  assertEquals(await call("get_minions"), ["web1", "web2"]);
}

const EVENTS = [map({ tag: "salt/job/1/new", data: { minions: ["ä"] } }), map({ tag: "own/tag", data: {} })];

for (const [name, json, password] of [["pgjsonb", "jsonb", "pass"], ["postgres", "text", "passwd"]] as const) {
  withServer(`${name} stores in PostgreSQL and reads again`, "postgres", startPostgres, async (server) => {
    await server.sql(POSTGRES_TABLES(json));
    const options = { host: "127.0.0.1", port: server.port, user: "salt", [password]: "salt", db: "salt" };
    const call = caller(name, { [`returner.${name}`]: options, keep_jobs_seconds: 3600 });
    await storesAndReads(call);
    await call("event_return", EVENTS);
    await server.sql("DO $$ BEGIN ASSERT (SELECT count(*) FROM salt_events) = 2; END $$;");
    await call("clean_old_jobs");
    assertEquals(await call("get_minions"), ["web1", "web2"]);
    await server.sql("UPDATE salt_returns SET alter_time = now() - interval '2 hours';");
    await call("clean_old_jobs");
    assertEquals([await call("get_minions"), await call("get_jids")], [[], new Map()]);
    const hostile = "x'); DROP TABLE jids; --";
    await call("save_load", hostile, LOAD);
    assertEquals(await call("get_load", hostile), LOAD);
    for (const sslmode of ["disable", "allow", "prefer", ...name === "postgres" ? ["require"] : []]) {
      const plain = caller(name, { [`returner.${name}`]: { ...options, sslmode } });
      assertEquals(await plain("get_load", hostile), LOAD);
    }
    // What a minion sends may have a NUL, which PostgreSQL has not; what cannot be stored says so.
    await call("returner", map({ jid: "7", id: "nul", fun: "a\0b", return: "\\u0000 \0 \\\0" }));
    const stored = (await call("get_jid", "7") as ValueMap).get("nul") as ValueMap;
    assertEquals(stored.get("return"), "\\u0000 \ufffd \\\ufffd");
    await assertRejects(
      () => call("returner", map({ jid: "8", id: "web1", fun: "x".repeat(60), return: 1 })),
      UnstorableError,
    );
  });
}

withServer(
  "returners use TLS with PostgreSQL as libpq's sslmode says, by what the server admits",
  "postgres",
  () => startPostgres({ tls: true }),
  async (server) => {
    const { certificate, port } = server as PostgresServer;
    /** Lets the server admit connections from this host by `kinds` alone. */
    const admit = async (...kinds: readonly string[]) => {
      const lines = ["local all all trust", ...kinds.map((kind) => `${kind} all all 127.0.0.1/32 trust`)];
      Deno.writeTextFileSync(`${dirName(certificate)}/pg_hba.conf`, `${lines.join("\n")}\n`);
      await server.sql("select pg_reload_conf()");
    };
    const place = { host: "127.0.0.1", port, user: "salt" };
    /** Whether the connection has TLS; `refused`: there is none. */
    const hasTls = async (sslmode?: string) => {
      const names = ["returner.pgjsonb"], options = { ...place, ...sslmode !== undefined && { sslmode } };
      const context = returnerContext({ "returner.pgjsonb": options });
      try {
        const client = await connectPostgres({ names, password: "pass", tls: sslmode !== undefined }, context);
        const [row] = await client.query("select ssl::text from pg_stat_ssl where pid = pg_backend_pid()");
        await client.close();
        return row.ssl === "true";
      } catch (error) {
        if (messageOf(error).includes("no pg_hba.conf entry")) return "refused";
        throw error;
      }
    };
    const modes = ["disable", "allow", "prefer", "require", undefined];
    const found = async () => {
      const all: unknown[] = [];
      for (const mode of modes) all.push(await hasTls(mode));
      return all;
    };
    assertEquals(await found(), [false, false, true, true, true]);
    await admit("hostssl");
    await eventually(async () => await hasTls("disable") === "refused", { what: "the new rules" });
    assertEquals(await found(), ["refused", true, true, true, true]);
    await admit("hostnossl");
    await eventually(async () => await hasTls("require") === "refused", { what: "the new rules" });
    assertEquals(await found(), [false, false, false, "refused", false]);
    await assertRejects(
      () => hasTls("always"),
      InvocationError,
      "sslmode is none of disable, allow, prefer, require, ",
    );
  },
);

Deno.test("pgjsonb: modes of TLS that are none, and files that are not there, are refused before a connection", async () => {
  const refused: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ sslmode: "maybe" }, "sslmode is none of disable, allow, prefer, require, verify-ca, verify-full: maybe"],
    [{ sslrootcert: "/none.pem" }, "sslrootcert: there is no file /none.pem"],
    [{ sslmode: "require", sslkey: "/none.key" }, "sslkey: there is no file /none.key"],
  ];
  for (const [options, text] of refused) {
    const call = caller("pgjsonb", { "returner.pgjsonb": { host: "127.0.0.1", port: 1, ...options } });
    const error = await assertRejects(() => call("get_minions"), InvocationError);
    assertEquals(error.message, text);
  }
  const sslrootcert = Deno.makeTempFileSync();
  try {
    const call = caller("pgjsonb", { "returner.pgjsonb": { host: "127.0.0.1", port: 1, sslrootcert } });
    await assertRejects(() => call("get_minions"), Error, "ECONNREFUSED");
  } finally {
    Deno.removeSync(sslrootcert);
  }
});

withServer("pgjsonb with sslmode require refuses a server without TLS", "postgres", startPostgres, async (server) => {
  const options = { host: "127.0.0.1", port: server.port, user: "salt", pass: "salt", db: "salt", sslmode: "require" };
  const call = caller("pgjsonb", { "returner.pgjsonb": options });
  await assertRejects(() => call("get_minions"), Error, "The server does not support SSL connections");
});

withServer("mysql stores in MariaDB and reads again", "mariadbd", startMariadb, async (server) => {
  await server.sql(MYSQL_TABLES);
  const call = caller("mysql", { mysql: { host: "127.0.0.1", port: server.port }, keep_jobs_seconds: 3600 });
  await storesAndReads(call);
  await call("event_return", EVENTS);
  await call("clean_old_jobs");
  assertEquals(await call("get_minions"), ["web1", "web2"]);
  await server.sql("UPDATE salt_returns SET alter_time = now() - INTERVAL 2 HOUR;");
  await call("clean_old_jobs");
  assertEquals([await call("get_minions"), await call("get_jids")], [[], new Map()]);
  const hostile = "x'); DROP TABLE jids; --";
  await call("save_load", hostile, LOAD);
  assertEquals(await call("get_load", hostile), LOAD);
  await assertRejects(
    () => call("returner", map({ jid: "8", id: "web1", fun: "x".repeat(60), return: 1 })),
    UnstorableError,
  );
});

withServer(
  "mysql: no text becomes SQL, also where a backslash is a letter",
  "mariadbd",
  startMariadb,
  async (server) => {
    await server.sql(`${MYSQL_TABLES}\nSET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES';`);
    const call = caller("mysql", { mysql: { host: "127.0.0.1", port: server.port } });
    const evil = "x',1,2,(SELECT 3),4,5) -- ";
    await call("returner", map({ jid: "9", id: "web1", fun: evil, return: "\\' \\" }));
    const stored = (await call("get_jid", "9") as ValueMap).get("web1") as ValueMap;
    assertEquals([stored.get("fun"), stored.get("return")], [evil, "\\' \\"]);
  },
);

withServer(
  "in redis no id and function of a minion are the key of a job or of another minion",
  "redis-server",
  startRedis,
  async (server) => {
    const call = caller("redis", { redis: { host: "127.0.0.1", port: server.port }, keep_jobs_seconds: 3600 });
    await call("save_load", JID, LOAD);
    await call("returner", returned("web1"));
    const lies = [["load", JID], ["ret", JID], ["load:a", "b"], ["web1", "test.echo:x"], ["web1:test.echo", "x"]];
    for (const [id, fun] of lies) {
      await call("returner", new Map([...returned(id, "20261128010203000009"), ["fun", fun]]));
    }
    assertEquals(await call("get_load", JID), LOAD);
    assertEquals(await call("get_jid", JID), map({ web1: returned("web1") }));
    assertEquals([...(await call("get_jids") as ValueMap).keys()], [JID]);
    assertEquals(await call("get_fun", "test.echo"), map({ web1: returned("web1") }));
  },
);

withServer("redis stores in Redis and reads again", "redis-server", startRedis, async (server) => {
  const call = caller("redis", { redis: { host: "127.0.0.1", port: server.port }, keep_jobs_seconds: 3600 });
  await storesAndReads(call);
  await call("clean_old_jobs");
  assertEquals(await call("get_minions"), ["web1", "web2"]);
  assertEquals(await call("get_jid", JID), map({ web1: returned("web1"), web2: returned("web2") }));
  // The load of a job expires in Redis.
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await connection.write(new TextEncoder().encode(`DEL load:${JID}\r\n`));
  await connection.read(new Uint8Array(16));
  await call("clean_old_jobs");
  assertEquals(await call("get_jid", JID), new Map());
  assertEquals([...(await call("get_jid", "20261128010203000002") as ValueMap).keys()], ["web1"]);
});

Deno.test("sqlite3 stores in a file whose tables it makes, and reads again", async () => {
  const directory = Deno.makeTempDirSync();
  try {
    const call = caller("sqlite3", { "sqlite3.database": `${directory}/jobs.db` });
    await call("save_load", JID, LOAD);
    await call("save_load", JID, LOAD);
    for (const id of ["web1", "web2"]) await call("returner", returned(id));
    assertEquals(await call("get_load", JID), LOAD);
    const value = returned("web1").get("return") ?? null;
    assertEquals(await call("get_jid", JID), map({ web1: { return: value }, web2: { return: value } }));
    assertEquals(await call("get_fun", "test.echo"), map({ web1: value, web2: value }));
    assertEquals([...(await call("get_jids") as ValueMap).keys()], [JID]);
    assertEquals(await call("get_minions"), ["web1", "web2"]);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});
