import { isMap, map, repr, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withRecordedJobs } from "#tests/support/fleet/recorded_jobs.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("doc.wheel documents every wheel function", () =>
  withRunnerFixture(async ({ call, context }) => {
    const docs = await call("doc.wheel");
    assert(isMap(docs));
    assertEquals(docs.size, (await context.wheel.all()).length);
    for (const [name, doc] of docs as ValueMap) {
      assertStringIncludes(String(doc), `salt-run salt.wheel ${repr(name).slice(1, -1)}`);
    }
  }));

Deno.test("doc.runner documents every runner, doc.execution the functions of minions", () =>
  withRecordedJobs(async ({ call, answers, context }) => {
    const docs = await call("doc.runner") as ValueMap;
    assertEquals([...docs.keys()], (await context.catalogue.all()).map(({ name }) => name));
    assert([...docs.values()].every((doc) => /CLI Example:\n\n +salt-run [a-z_]+\.[a-z_]+/.test(String(doc))));
    answers.set("web1", { return: map({ "test.ping": "a" }), retcode: 0 });
    answers.set("web2", { return: map({ "test.echo": "b" }), retcode: 0 });
    assertEquals(await call("doc.execution"), map({ "test.ping": "a", "test.echo": "b" }));
  }));
