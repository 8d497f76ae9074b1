/**
 * One trace from the command to the states of a minion and back, and what stays as it is without one.
 * @module
 */

import { isMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { type CollectedSpan, Collector } from "#tests/support/fleet/collector.ts";

/** A span's ancestors, the nearest first. */
function ancestors(span: CollectedSpan, all: readonly CollectedSpan[]): string[] {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? [] : [parent.name, ...ancestors(parent, all)];
}

Deno.test("a job is one trace: command, master, minion, states and return", () =>
  withTemporaryDirectory(async (tree) => {
    await using collector = new Collector();
    const tracing = { enabled: true, endpoint: collector.endpoint, sampler_arg: 1.0 };
    Deno.writeTextFileSync(`${tree}/two.sls`, "one:\n  test.nop: []\ntwo:\n  test.fail_without_changes: []\n");
    const master = { tracing, file_roots: { base: [tree] } };
    await using fleet = await startFleet({ minions: ["m1"], master, minion: { tracing } });
    assertEquals((await fleet.salt("m1", "state.apply", "two")).code, 1);
    const root = await eventually(() => collector.spans.find(({ name }) => name === "salt.cli.state.apply"), {
      what: "the span of the command",
    });
    const ofJob = () => collector.spans.filter(({ traceId }) => traceId === root.traceId);
    const named = (name: string) => ofJob().find((span) => span.name === name);
    await eventually(() => named("salt.store.return"), { what: "the spans of the return" });
    await eventually(() => named("salt.minion.exec.state.apply"), { what: "the spans of the minion" });

    const path = (name: string) => {
      const span = named(name);
      assert(span !== undefined, `${name} is not among ${ofJob().map((one) => one.name).join(", ")}`);
      return ancestors(span, ofJob());
    };
    const publish = ["salt.req.recv.publish", "salt.cli.state.apply"];
    const run = ["salt.minion.exec.state.apply", "salt.minion.recv.state.apply", ...publish];
    for (const name of ["salt.resolve", "salt.pub.send", "salt.store.load"]) assertEquals(path(name), publish);
    assertEquals(path("state: one | test.nop"), run);
    assertEquals(path("state: two | test.fail_without_changes"), run);
    assertEquals(path("salt.store.return"), ["salt.req.recv._return", ...run]);
    assertEquals(named("state: two | test.fail_without_changes")?.status?.message, "Failure!");
    assertEquals(named("salt.minion.exec.state.apply")?.status?.code, 2);
    assertEquals(new Set(ofJob().map(({ service }) => service)), new Set(["salt", "salt-master", "salt-minion-m1"]));

    const called = await fleet.saltCall("m1", "test.ping");
    assertEquals(called.code, 0);
    const call = await eventually(() => collector.spans.find(({ name }) => name === "salt-call.test.ping"), {
      what: "the span of salt-call",
    });
    const returned = await eventually(
      () =>
        collector.spans.find(({ name, parentSpanId }) =>
          name === "salt.req.recv._return" && parentSpanId === call.spanId
        ),
      { what: "the span of its return" },
    );
    assertEquals(returned.traceId, call.traceId);

    // A caller that is traced names its span in the environment.
    const [traceId, spanId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    Deno.env.set("TRACEPARENT", `00-${traceId}-${spanId}-01`);
    try {
      assertEquals((await fleet.saltCall("m1", "test.echo", "x")).code, 0);
    } finally {
      Deno.env.delete("TRACEPARENT");
    }
    const below = await eventually(() => collector.spans.find(({ name }) => name === "salt-call.test.echo"), {
      what: "the span of the traced salt-call",
    });
    assertEquals([below.traceId, below.parentSpanId], [traceId, spanId]);
  }));

Deno.test("a master without tracing hands no context on, and a minion without it adds none", async () => {
  await using collector = new Collector();
  const tracing = { enabled: true, endpoint: collector.endpoint };
  await using fleet = await startFleet({ minions: ["m1"], minion: { tracing } });
  using events = await fleet.listen("salt/job/");
  assertEquals((await fleet.salt("m1", "test.ping")).code, 0);
  const run = await eventually(() => collector.spans.find(({ name }) => name === "salt.minion.exec.test.ping"), {
    what: "the span of the minion",
  });
  const received = collector.spans.find(({ name }) => name === "salt.minion.recv.test.ping");
  assertEquals([run.parentSpanId, received?.parentSpanId], [received?.spanId, undefined]);
  const job = await events.next(10_000);
  assertEquals(job?.data.has("traceparent"), false);
  const stored = parseJson((await fleet.saltRun("--out=json", "jobs.last_run")).out);
  assert(isMap(stored) && stored.size === 1);
});
