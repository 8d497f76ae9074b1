/**
 * Beacon `memusage`: the memory that is used.
 * Source: Salt 3008.3 `salt/beacons/memusage.py`.
 * @module
 */

import type { BeaconModule } from "#lib/plugins/beacon.ts";
import { virtualMemory } from "#lib/procfs/system_usage.ts";
import { usageBeacon } from "./_percent.ts";

export const beacon: BeaconModule = usageBeacon(
  "memusage",
  "The memory that is used",
  () => virtualMemory(Deno.readTextFileSync("/proc/meminfo")).percent,
);
