/**
 * Metrics: what a collector gets, that it misses nothing while it is away, and those of a master.
 * @module
 */

import { openMeter } from "#lib/tracing/meter.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Collector } from "#tests/support/fleet/collector.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

function meterOf(option: ValueMap) {
  const { log, lines } = memoryLog();
  return { meter: openMeter(option, { service: "salt-test", instance: "1" }, log), lines };
}

Deno.test("sums, values and distributions arrive, and a collector that was away misses none", async () => {
  await using collector = new Collector();
  const { meter, lines } = meterOf(map({
    enabled: true,
    endpoint: collector.metricsEndpoint,
    export_interval_seconds: 3600,
    headers: { authorization: "Bearer x" },
    histogram_boundaries: { took: [1, 10] },
  }));
  assert(meter !== undefined);
  meter.count("jobs", { fun: "a" });
  collector.status = 503;
  await meter.export();
  assertStringIncludes(lines[0], "the collector answered 503");
  collector.status = 200;
  meter.count("jobs", { fun: "a" });
  meter.count("jobs", { fun: "b" }, 3);
  meter.record("took", 5);
  meter.record("took", 500);
  meter.observe("present", () => [{ labels: {}, value: 7 }]);
  await meter.close();
  assertEquals(collector.points("jobs"), [{ labels: { fun: "a" }, value: 2 }, { labels: { fun: "b" }, value: 3 }]);
  assertEquals([collector.total("took"), collector.total("present")], [2, 7]);
  assertEquals(lines.length, 2);
  assertEquals(collector.headers[0].get("authorization"), "Bearer x");
});

Deno.test("labels that a user makes up are counted together beyond a bound", async () => {
  await using collector = new Collector();
  const { meter } = meterOf(map({ enabled: true, endpoint: collector.metricsEndpoint }));
  assert(meter !== undefined);
  for (let n = 0; n < 2_500; n++) meter.count("jobs", { fun: `f${n}${"x".repeat(500)}` });
  await meter.close();
  const points = collector.points("jobs");
  assertEquals([points.length, collector.total("jobs", { "otel.metric.overflow": "true" })], [2_001, 500]);
  assertEquals(points[0].labels.fun.length, 200);
});

Deno.test("what is wrong in the option is said, and nothing is measured", () => {
  for (
    const [option, text] of [
      [{ exporter: "prometheus" }, "exporter prometheus is not built"],
      [{ export_interval_seconds: 0 }, "export_interval_seconds"],
      [{ endpoint: "file:///etc/passwd" }, "endpoint is not an http or https URL"],
      [{ histogram_boundaries: { x: [2, 1] } }, "histogram_boundaries of x"],
      [{ histogram_boundaries: { x: ["a"] } }, "histogram_boundaries of x"],
    ] as const
  ) {
    const { meter, lines } = meterOf(map({ enabled: true, ...option }));
    assertEquals(meter, undefined);
    assertEquals(lines.length, 1);
    assertStringIncludes(lines[0], text);
  }
  assertEquals(meterOf(map({})), { meter: undefined, lines: [] });
});

Deno.test("a master exports its jobs, returns, requests and minions", async () => {
  await using collector = new Collector();
  const metrics = { enabled: true, endpoint: collector.metricsEndpoint, export_interval_seconds: 1 };
  await using fleet = await startFleet({ minions: ["m1", "m2"], master: { metrics } });
  assertEquals((await fleet.salt("*", "test.ping")).code, 0);
  await fleet.salt("m1", "test.retcode", "3");
  const counts: readonly (readonly [name: string, labels: Readonly<Record<string, string>>, atLeast: number])[] = [
    ["salt.returns", { outcome: "failed" }, 1],
    ["salt.returns", { outcome: "returned" }, 2],
    ["salt.minions.present", {}, 2],
    ["salt.jobs", { fun: "test.ping" }, 1],
    ["salt.jobs", { fun: "test.retcode" }, 1],
    ["salt.jobs.completed", { fun: "test.ping", success: "true" }, 2],
    ["salt.master.requests.handled", { cmd: "_return" }, 3],
    ["salt.master.requests.duration", { cmd: "publish" }, 2],
    ["salt.store.commit", {}, 3],
  ];
  // Each worker counts what it has served, and exports at its own time.
  await eventually(() => counts.every(([name, labels, atLeast]) => collector.total(name, labels) >= atLeast), {
    what: "the metrics of all workers",
    withinMs: 30_000,
  });
  for (const name of ["salt.jobs", "salt.jobs.published"]) {
    assertEquals([collector.total(name, { fun: "test.ping" }), collector.total(name, { fun: "test.retcode" })], [1, 1]);
  }
  assertEquals(collector.total("salt.jobs.completed", { fun: "test.ping", success: "true" }), 2);
  assertEquals(collector.total("salt.minions.present"), 2);
  assert(collector.points("salt.requests.waiting").length > 0);
  assertEquals(collector.points("salt.events.dropped"), [{ labels: { reader: "reactor" }, value: 0 }]);
  assertEquals(collector.points("salt.outbox"), []);
});
