/**
 * The connection that hears the other masters, over a real database.
 * @module
 */

import { ControlConnection } from "#lib/cluster/control_connection.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { startClusterPlace } from "./cluster_place.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

Deno.test({
  name: named("a connection that may not listen is closed, told as away, and made again"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const options = postgresOptions({ postgresql: map({ host: "127.0.0.1", port: place.server.port }) });
    const down: string[] = [];
    let up = 0;
    // No statement takes this name: a server that only follows another refuses each `listen` as well.
    const connection = new ControlConnection({ ...options, schema: "not a name" }, 1_000, {
      onWake: () => {},
      onUp: () => void up++,
      onDown: (reason) => void down.push(reason),
    });
    await eventually(() => down.length >= 3, { what: "three attempts" });
    assertEquals([up, connection.up], [0, false]);
    for (const reason of down) assertStringIncludes(reason, "syntax error");
    await assertRejects(() => connection.run(() => Promise.resolve()), DatabaseAwayError, "the database is away");
    await connection.close();
    await eventually(async () => {
      await place.server.sql(`do $$ begin assert (select count(*) from pg_stat_activity
        where query = 'listen not a name') = 0; end $$`);
      return true;
    }, { what: "the end of all its connections" });
  },
});

Deno.test({
  name: named("whoever asks when the database answers is called at once if it does, and again after an outage"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const { database } = await place.member(1);
    const called: string[] = [];
    database.whenUp(() => called.push("early"));
    database.follow("m", () => Promise.resolve());
    await eventually(() => called.length > 0, { what: "the first connection" });
    database.whenUp(() => called.push("late"));
    assertEquals(called, ["early", "late"]);
    await place.server.crash();
    await eventually(() => database.away, { what: "the database is away" });
    await place.server.restart();
    await eventually(() => called.length >= 4, { what: "the next connection" });
    assert(!database.away);
    assertEquals(called, ["early", "late", "early", "late"]);
  },
});
