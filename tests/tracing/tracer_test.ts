/**
 * Spans: which ones are exported, and that a collector that is away loses none of a few.
 * @module
 */

import { openTracer } from "#lib/tracing/tracer.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Collector } from "#tests/support/fleet/collector.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";

function tracerOf(option: ValueMap) {
  const { log, lines } = memoryLog();
  const tracer = openTracer(option, "salt-test", log);
  return { tracer, lines };
}

Deno.test("spans arrive with their parents, attributes, errors and the headers of the option", async () => {
  await using collector = new Collector();
  const { tracer } = tracerOf(map({
    enabled: true,
    endpoint: collector.endpoint,
    headers: { authorization: "Bearer x" },
    resource_attributes: { "deployment.environment": "test" },
  }));
  assert(tracer !== undefined);
  await tracer.within("root", { kind: "server" }, async (parent) => {
    await tracer.within("child", { parent, attributes: { n: 1 } }, () => {});
    await assertRejects(() => tracer.within("failed", { parent }, () => Promise.reject(new Error("broken"))));
  });
  await tracer.close();
  const [child, failed, root] = collector.spans;
  assertEquals([child.name, failed.name, root.name], ["child", "failed", "root"]);
  assertEquals(root.parentSpanId, undefined);
  assertEquals([child.parentSpanId, failed.parentSpanId], [root.spanId, root.spanId]);
  assertEquals(new Set(collector.spans.map(({ traceId }) => traceId)).size, 1);
  assertEquals(failed.status, { code: 2, message: "broken" });
  assertEquals(root.service, "salt-test");
  assert(BigInt(root.endTimeUnixNano) >= BigInt(child.endTimeUnixNano));
  assertEquals(collector.headers[0].get("authorization"), "Bearer x");
});

Deno.test("the sampler decides for a whole trace", async () => {
  await using collector = new Collector();
  const parent = { traceId: "f".repeat(32), spanId: "1".repeat(16) };
  const names = async (option: Record<string, unknown>) => {
    const before = collector.spans.length;
    const { tracer } = tracerOf(map({ enabled: true, endpoint: collector.endpoint, ...option }));
    assert(tracer !== undefined);
    tracer.start("root").end();
    tracer.start("sampled", { parent: { ...parent, isSampled: true } }).end();
    tracer.start("not", { parent: { ...parent, isSampled: false } }).end();
    await tracer.close();
    return collector.spans.slice(before).map(({ name }) => name);
  };
  assertEquals(await names({}), ["root", "sampled"]);
  assertEquals(await names({ sampler_arg: 0 }), ["sampled"]);
  assertEquals(await names({ sampler: "always_on" }), ["root", "sampled", "not"]);
  assertEquals(await names({ sampler: "always_off" }), []);
  assertEquals(
    await names({ sampler: "trace_id_ratio", sampler_arg: 0.5 }).then((all) => all.includes("sampled")),
    false,
  );
});

Deno.test("a collector that refuses for a while gets the spans afterwards; the log says it once", async () => {
  await using collector = new Collector();
  const { tracer, lines } = tracerOf(map({ enabled: true, endpoint: collector.endpoint }));
  assert(tracer !== undefined);
  collector.status = 503;
  tracer.start("first").end();
  await eventually(() => lines.length > 0, { what: "the line of the log" });
  assertStringIncludes(lines[0], "the collector answered 503");
  collector.status = 200;
  tracer.start("second").end();
  await tracer.close();
  assertEquals(collector.spans.map(({ name }) => name), ["first", "second"]);
  assertEquals(lines.length, 2);
});

Deno.test("of more spans than may wait the oldest are lost, and the log counts them when the collector is back", async () => {
  await using collector = new Collector();
  const { tracer, lines } = tracerOf(map({ enabled: true, endpoint: collector.endpoint }));
  assert(tracer !== undefined);
  collector.status = 503;
  for (let i = 0; i < 2_049; i++) tracer.start(`span ${i}`).end();
  await eventually(() => lines.length > 0, { what: "the line of the log" });
  collector.status = 200;
  await tracer.close(30_000);
  assertEquals([collector.spans.length, collector.spans[0].name], [2_049 - 512, "span 512"]);
  assertStringIncludes(lines[1], "Spans are exported again; 512 are lost");
});

Deno.test("spans that a collector refuses are sent again by themselves", async () => {
  await using collector = new Collector();
  const { tracer, lines } = tracerOf(map({ enabled: true, endpoint: collector.endpoint }));
  assert(tracer !== undefined);
  collector.status = 503;
  tracer.start("only").end();
  {
    using time = new SkippedTime();
    await time.to(2_000);
    await eventually(() => lines.length > 0, { what: "the line of the log" });
    collector.status = 200;
    // A try may take longer than this clock lets it.
    for (let ms = 13_000; collector.spans.length === 0 && ms < 1_000_000; ms += 11_000) await time.to(ms);
  }
  assertEquals(collector.spans.at(0)?.name, "only");
  await tracer.close();
});

Deno.test("no id of a span or trace is 0", async () => {
  await using collector = new Collector();
  const { tracer } = tracerOf(map({ enabled: true, endpoint: collector.endpoint }));
  assert(tracer !== undefined);
  await withReplaced(crypto, { name: "getRandomValues", by: (array) => array }, () => tracer.start("span").end());
  await tracer.close();
  const [{ traceId, spanId }] = collector.spans;
  assertEquals([traceId, spanId], ["1".padStart(32, "0"), "1".padStart(16, "0")]);
});

Deno.test("what is wrong in the option is said, and nothing is traced", () => {
  for (
    const [option, text] of [
      [{ exporter: "otlp-grpc" }, "exporter otlp-grpc is not built"],
      [{ sampler: "some" }, "no sampler some"],
      [{ sampler_arg: 2 }, "sampler_arg"],
      [{ endpoint: "file:///etc/passwd" }, "endpoint is not an http or https URL"],
    ] as const
  ) {
    const { tracer, lines } = tracerOf(map({ enabled: true, ...option }));
    assertEquals(tracer, undefined);
    assertEquals(lines.length, 1);
    assertStringIncludes(lines[0], text);
  }
  assertEquals(tracerOf(map({})), { tracer: undefined, lines: [] });
  assertEquals(tracerOf(map({ enabled: false, exporter: "x" })).lines, []);
});
