/** Runner `database` of a master without a cluster; with servers: tests/jobs/stores_fleet_test.ts. */

import { outboxDirectory, RecordOutbox } from "#lib/stores/record_outbox.ts";
import { SCHEMA } from "#lib/stores/rows.ts";
import { CommandError } from "#lib/errors.ts";
import { isMap, map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { addJob, withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

const JID = "20250102030405000001";

Deno.test("database: jobs in files have a status, and nothing to migrate, load or save", () =>
  withRunnerFixture(async ({ call, context }) => {
    assertEquals(
      await call("database.status"),
      map({
        store: "local_cache",
        server: `${context.opts.cachedir}/jobs`,
        schema: null,
        wanted: null,
        outbox: 0,
        waiting: 0,
        oldest_partition: null,
        size: null,
      }),
    );
    for (const fun of ["migrate", "load", "save"]) {
      await assertRejects(
        () => call(`database.${fun}`),
        CommandError,
        "master_job_cache names no database: set it to sqlite or postgresql",
      );
    }
  }));

Deno.test("database: jobs go from the files into SQLite and back, each once", () =>
  withRunnerFixture(async (fixture) => {
    const { call, context, root } = fixture;
    assertEquals(await call("database.migrate"), SCHEMA);
    const status = await call("database.status");
    assert(isMap(status));
    const field = (name: string) => status.get(name);
    assertEquals(["store", "schema", "wanted", "outbox"].map(field), ["sqlite", SCHEMA, SCHEMA, 0]);
    const outbox = new RecordOutbox({ directory: outboxDirectory(context.opts), maxBytes: 1000, log() {} });
    await outbox.append([map({ n: 1 }), map({ n: 2 })]);
    const later = await call("database.status");
    assertEquals(isMap(later) && later.get("outbox"), 2);
    addJob(fixture, JID, "test.ping");
    await context.jobs.saveReturn(map({ jid: JID, id: "web1", return: true, retcode: 0 }));
    assertEquals(await call("database.load", [], { jobs: false }), map({ jobs: 0, returns: 0 }));
    assertEquals(await call("database.load"), map({ jobs: 1, returns: 1 }));
    assertEquals(await call("database.load"), map({ jobs: 0, returns: 0 }));
    await assertRejects(() => call("database.save", ["back"]), CommandError, "must be an absolute path, and is back");
    assertEquals(await call("database.save", [`${root}/back`]), map({ jobs: 1, returns: 1 }));
    const jobs = await fixture.call("jobs.list_jobs") as ValueMap;
    assertEquals([...jobs.keys()], [JID]);
  }, "master_job_cache: sqlite\n"));

Deno.test("database: what the database says is the error of the runner", () =>
  withRunnerFixture(async ({ call, context }) => {
    Deno.mkdirSync(context.opts.cachedir, { recursive: true });
    const error = await assertRejects(() => call("database.status"), CommandError);
    assertStringIncludes(error.message, "127.0.0.1");
  }, "master_job_cache: postgresql\npostgresql: {host: 127.0.0.1, port: 1, user: salt, pass: salt}\n"));
