/**
 * The metrics of a master that belong to none of its threads: connected minions, records that wait for the database of
 * jobs, events that readers of the log have lost. Loaded if the option `metrics` asks for them.
 * @module
 */

import { reactorDirectory, returnersDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { readPresence } from "#lib/fleet/presence_file.ts";
import { readStatus } from "#lib/reactor/status.ts";
import { readPosition } from "#lib/returners/event_position.ts";
import { EVENT_OPTIONS, masterReturners } from "#lib/returners/master_returners.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { outboxDirectory, outboxRecords } from "#lib/stores/record_outbox.ts";
import { jobStoreKind } from "#lib/stores/store_options.ts";
import { meterOf } from "#lib/tracing/late_tracer.ts";
import type { Meter } from "#lib/tracing/meter.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { toNumber } from "#lib/values/value.ts";

/** Starts to export them; `undefined` if the option is off, or wrong. */
export async function startMasterMeter(opts: MasterOpts, log: Logger): Promise<Meter | undefined> {
  const meter = await meterOf(opts.metrics, { service: "salt-master", instance: crypto.randomUUID() }, log);
  if (meter === undefined) return undefined;
  const present = () => [{ labels: {}, value: readPresence(opts.cachedir).present.size }];
  // The second is the name of Salt 3008.
  for (const name of ["salt.minions.present", "salt.master.connected_minions.count"]) meter.observe(name, present);
  if (jobStoreKind(opts) !== "local_cache") {
    meter.observe(
      "salt.outbox",
      () => [{ labels: { store: jobStoreKind(opts) }, value: outboxRecords(outboxDirectory(opts)) }],
    );
  }
  meter.observe("salt.events.dropped", () => droppedEvents(opts), { kind: "counter" });
  return meter;
}

function droppedEvents(opts: MasterOpts) {
  const dropped = mapOrEmpty(readStatus(reactorDirectory(opts.cachedir))?.get("dropped"));
  const points = [{ labels: { reader: "reactor" }, value: toNumber(dropped.get("missed")) ?? 0 }];
  for (const option of EVENT_OPTIONS) {
    for (const name of masterReturners(option, opts).names) {
      const value = readPosition(returnersDirectory(opts.cachedir), option, name)?.dropped ?? 0;
      points.push({ labels: { reader: `${option} ${name}` }, value });
    }
  }
  return points;
}
