/**
 * A database with the schema of before the clusters, and jobs in it.
 * @module
 */

import { connectDatabase } from "#lib/stores/postgres_connection.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { makeSchema, schemaNumber } from "#lib/stores/postgres_schema.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";

/** The tables as a master with schema 1 made them. */
const SCHEMA_1 = `
create schema salt;
create table salt.meta (schema int, oldest_reader int, made timestamptz);
create table salt.jobs (jid text collate "C", fun text[], tgt text, tgt_type text, usr text, minions text[],
  origin smallint, load bytea not null, hidden text, ended timestamptz, nocache bool not null default false,
  live bool not null default false, made timestamptz not null default now(), primary key (jid)) partition by range (jid);
create table salt.returns (jid text collate "C", minion text collate "C", retcode int, success bool,
  stored timestamptz default now(), body bytea not null, primary key (jid, minion)) partition by range (jid);
create table salt.acks (jid text collate "C", minion text, state text, at timestamptz, primary key (jid, minion))
  partition by range (jid);
create table salt.outputs (jid text collate "C", minion text, n int, body bytea, primary key (jid, minion, n))
  partition by range (jid);
create table salt.batches (jid text primary key, active bool, state bytea);
create table salt.jobs_default partition of salt.jobs default;
create table salt.returns_default partition of salt.returns default;
create table salt.acks_default partition of salt.acks default;
create table salt.outputs_default partition of salt.outputs default;
create table salt.jobs_20270309 partition of salt.jobs for values from ('20270309') to ('20270310');
create table salt.returns_20270309 partition of salt.returns for values from ('20270309') to ('20270310');
insert into salt.meta values (1, 1, now());
insert into salt.jobs (jid, fun, tgt, minions, load) values
  ('20270309123000000000', '{test.ping}', '*', '{web1}', '\\x80'), ('made_up', '{test.ping}', '*', '{web1}', '\\x80');
insert into salt.returns (jid, minion, retcode, success, body) values ('20270309123000000000', 'web1', 0, true, '\\xc3');
insert into salt.acks values ('made_up', 'web1', 'running', now());`;

const missing = serverProgram("postgres") === undefined;
const name = "a database of schema 1 gets the tables of a cluster, keeps its rows, and takes two masters at once";

Deno.test({
  name: missing ? `${name} (skipped: there is no postgres)` : name,
  ignore: missing,
  async fn() {
    await using server = await startPostgres();
    await server.sql(SCHEMA_1);
    const place = postgresOptions({ postgresql: map({ host: "127.0.0.1", port: server.port }) });
    const connect = () => connectDatabase(place, { statementMs: 60_000, onEnd: () => {} });
    const clients = [await connect(), await connect()], [client] = clients;
    try {
      assertEquals((await schemaNumber(client, "salt"))?.schema, 1);
      const retention = { keepSeconds: 86_400 * 7, nowMs: Date.UTC(2027, 2, 9, 12, 30) };
      await Promise.all(clients.map((each) => makeSchema(each, "salt", retention)));
      assertEquals(await schemaNumber(client, "salt"), { schema: 3, oldestReader: 1 });
      const texts = async (sql: string) => (await client.query<{ readonly x: string }>(sql)).rows.map(({ x }) => x);
      assertEquals(await texts("select jid as x from salt.jobs order by jid"), ["20270309123000000000", "made_up"]);
      assertEquals(await texts("select encode(body, 'hex') as x from salt.returns"), ["c3"]);
      assertEquals(await texts("select state as x from salt.acks"), ["running"]);
      assertEquals(await texts("select n::text as x from salt.key_generation"), ["0"]);
      for (const table of ["masters", "leases", "secrets", "minion_keys", "publishes", "events", "bank", "presence"]) {
        assertEquals(await texts(`select count(*)::text as x from salt.${table}`), ["0"], table);
      }
    } finally {
      for (const each of clients) await each.end();
    }
  },
});
