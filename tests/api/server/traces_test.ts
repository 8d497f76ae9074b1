/** Requests of the API are the roots of what they cause, or go on with the trace of their client. */

import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { Collector } from "#tests/support/fleet/collector.ts";
import { eventually } from "#tests/support/eventually.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";

Deno.test("a request is the root of its job's trace, below the client's own span if it has one", async () => {
  const directory = Deno.makeTempDirSync({ prefix: "api_traces_" });
  try {
    await using collector = new Collector();
    const tracing = { enabled: true, endpoint: collector.endpoint };
    const users = apiMasterOptions(directory, { alice: [".*", "@runner", "@wheel"] });
    await using fleet = await startFleet({ minions: ["m1"], master: { ...users, tracing }, minion: { tracing } });
    await using site = await ApiSite.start(fleet);
    const token = await site.logIn("alice");
    const client = { traceId: "a".repeat(32), spanId: "b".repeat(16) };
    const traceparent = `00-${client.traceId}-${client.spanId}-01`;
    const job = { client: "local", tgt: "m1", fun: "test.ping" };
    await site.post("/", [job, { client: "runner", fun: "test.arg" }], { "X-Auth-Token": token, traceparent });
    const started = { tgt: "m1", fun: "test.version" };
    await site.ask("POST", "/api/v1/jobs", { token, body: started });

    const named = (name: string, traceId?: string) =>
      collector.spans.find((span) => span.name === name && (traceId === undefined || span.traceId === traceId));
    const run = await eventually(() => named("salt.minion.exec.test.ping", client.traceId), {
      what: "the minion's span",
    });
    assertEquals(run.service, "salt-minion-m1");
    const own = await eventually(() => named("salt.api POST /", client.traceId), { what: "the span of the request" });
    assertEquals([own.parentSpanId, own.service], [client.spanId, "salt-api"]);
    for (const cmd of ["publish", "runner"]) {
      const below = await eventually(() => named(`salt.req.recv.${cmd}`, client.traceId), {
        what: `the span of ${cmd}`,
      });
      assertEquals(below.parentSpanId, own.spanId);
    }
    const root = await eventually(() => named("salt.api POST /api/v1/jobs"), { what: "the root" });
    assertEquals(root.parentSpanId, undefined);
    await eventually(() => named("salt.minion.exec.test.version", root.traceId), { what: "the minion's span" });
    assert(named("salt.api POST /login") !== undefined);

    // What the client did wrong is no error of the span; what the API cannot do is one.
    const failing = async (path: string, body: unknown, digit: string) => {
      const traceId = digit.repeat(32), headers = { traceparent: `00-${traceId}-${client.spanId}-01` };
      const { status } = await site.ask("POST", path, { token, body, headers });
      const span = await eventually(() => named(`salt.api POST ${path}`, traceId), { what: "the span of a failure" });
      return [status, span.status];
    };
    assertEquals(await failing("/", [{ client: "nosuch" }], "c"), [400, undefined]);
    await fleet.stopMaster();
    const error = { code: 2, message: "Salt Master is not available." };
    assertEquals(await failing("/api/v1/jobs", started, "d"), [503, error]);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});
