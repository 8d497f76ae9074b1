/**
 * Beacon `swapusage`: the swap space that is used.
 * Source: Salt 3008.3 `salt/beacons/swapusage.py`.
 * @module
 */

import type { BeaconModule } from "#lib/plugins/beacon.ts";
import { swapMemory } from "#lib/procfs/system_usage.ts";
import { usageBeacon } from "./_percent.ts";

export const beacon: BeaconModule = usageBeacon(
  "swapusage",
  "The swap space that is used",
  () => swapMemory(Deno.readTextFileSync("/proc/meminfo"), "").percent,
);
