/** The metrics of a master that belong to none of its threads. */

import { returnersDirectory } from "#lib/config/master_paths.ts";
import { startMasterMeter } from "#lib/master/daemon/master_meter.ts";
import { writePosition } from "#lib/returners/event_position.ts";
import { outboxDirectory, RecordOutbox } from "#lib/stores/record_outbox.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { Collector } from "#tests/support/fleet/collector.ts";
import { testServices } from "#tests/support/fleet/services.ts";

Deno.test("a master exports the records that wait for its database, and the events that its returners have lost", async () => {
  await using collector = new Collector();
  using services = await testServices({
    metrics: map({ enabled: true, endpoint: collector.metricsEndpoint, export_interval_seconds: 3600 }),
    master_job_cache: "postgresql",
    event_return: "own",
  });
  const { opts } = services;
  const outbox = new RecordOutbox({ directory: outboxDirectory(opts), maxBytes: 1 << 20, log: services.log.warning });
  await outbox.append([map({ a: 1 }), map({ a: 2 })]);
  await outbox.close();
  const positions = returnersDirectory(opts.cachedir);
  Deno.mkdirSync(positions, { recursive: true });
  writePosition(positions, "event_return", "own", { log: "", number: 9, stored: 6, dropped: 3, error: "" });
  const meter = await startMasterMeter(opts, services.log);
  assert(meter !== undefined);
  await meter.close(10_000);
  assertEquals(collector.points("salt.outbox"), [{ labels: { store: "postgresql" }, value: 2 }]);
  assertEquals(collector.points("salt.events.dropped"), [
    { labels: { reader: "reactor" }, value: 0 },
    { labels: { reader: "event_return own" }, value: 3 },
  ]);
});

Deno.test("an option that is wrong is named, and nothing is measured", async () => {
  using services = await testServices({ metrics: map({ enabled: true, exporter: "prometheus" }) });
  assertEquals(await startMasterMeter(services.opts, services.log), undefined);
  assertStringIncludes(services.logged.join("\n"), "exporter prometheus is not built");
});
