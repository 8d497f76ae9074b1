/** @module */
import { keepEventPartitions } from "#lib/cluster/event_partitions.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { startClusterPlace } from "./cluster_place.ts";

const NOON = Date.UTC(2027, 2, 9, 12, 30);
const missing = serverProgram("postgres") === undefined;
const name = "old events go with their partition, an hour or a day; what lies elsewhere goes by its time";

Deno.test({
  name: missing ? `${name} (skipped: there is no postgres)` : name,
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const { database } = await place.member(1), { schema } = database;
    const keep = (keepSeconds: number, nowMs: number) =>
      database.read((client) => keepEventPartitions(client, { schema, keepSeconds, nowMs }));
    const rowsOf = (sql: string) =>
      database.read(async (client) => (await client.query<{ readonly x: string }>(sql)).rows.map(({ x }) => x));
    const partitions = () =>
      rowsOf(
        `select c.relname as x from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = '${schema}.events'::regclass and c.relname like 'events_2027%' order by 1`,
      );
    const add = (seq: number, ms: number) =>
      place.server.sql(
        `insert into ${schema}.events (origin, seq, at, tag, body) values (1, ${seq}, to_timestamp(${
          ms / 1000
        }), 't', '')`,
      );
    const events = () => rowsOf(`select seq::text as x from ${schema}.events order by seq`);

    await add(1, NOON - 7_200_000); // Before there is a partition for it.
    await keep(3_600, NOON);
    assertEquals(await partitions(), ["events_2027030912", "events_2027030913", "events_2027030914"]);
    assertEquals(await events(), [], "it was too old");
    for (const [i, hours] of [0, 1, 2].entries()) await add(2 + i, NOON + hours * 3_600_000);
    await keep(3_600, NOON);
    assertEquals((await partitions()).length, 3, "once more makes nothing");
    // The hour of 12 has ended an hour ago: it goes, with what is in it.
    await keep(3_600, NOON + 5_400_000);
    assertEquals([(await partitions())[0], await events()], ["events_2027030913", ["3", "4"]]);
    // Kept for longer: days from now on. The day has partitions of hours, which stay; the next ones are made.
    await keep(3 * 86_400, NOON + 5_400_000);
    assertEquals(await partitions(), [
      "events_2027030913",
      "events_2027030914",
      "events_2027030915",
      "events_2027030916",
      "events_20270310",
      "events_20270311",
    ]);
    await keep(3 * 86_400, NOON + 10 * 86_400_000);
    assertEquals(await events(), []);
    assertEquals(await partitions(), ["events_20270319", "events_20270320", "events_20270321"]);
  },
});
