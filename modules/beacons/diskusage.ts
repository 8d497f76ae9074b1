/**
 * Beacon `diskusage`: the space that is used on mounted file systems.
 * Source: Salt 3008.3 `salt/beacons/diskusage.py`.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import type { BeaconModule } from "#lib/plugins/beacon.ts";
import { diskUsage, parsePartitions } from "#lib/procfs/system_usage.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { percentLimit } from "./_percent.ts";

/** `undefined`: it is not mounted any more, or may not be looked at. */
function usedPercent(mount: string): Value | undefined {
  try {
    return diskUsage(nodeBuiltin("node:fs").statfsSync(mount)).percent;
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function over(pattern: string, limit: number, mounts: readonly string[]): ValueMap[] {
  const regex = pythonRegex(pattern.endsWith("$") ? pattern : `${pattern}$`);
  return mounts.filter((mount) => regex.test(mount)).flatMap((mount) => {
    const diskusage = usedPercent(mount);
    if (diskusage === undefined || (toNumber(diskusage) ?? 0) < limit) return [];
    return [map({ diskusage, mount })];
  });
}

export const beacon: BeaconModule = {
  doc: "File systems that are used at or over a limit in percent; a key is a mount point, or a pattern of them.",
  permissions: "all",
  validate: () => undefined,
  open: ({ list }) => ({
    look() {
      const mounts = parsePartitions(Deno.readTextFileSync("/proc/self/mounts"), undefined)
        .map(({ mountpoint }) => mountpoint);
      const problems: string[] = [];
      const events = list.flatMap((entry) => [...entry]).flatMap(([pattern, limit]) => {
        try {
          return over(str(pattern), percentLimit(limit), mounts);
        } catch (error) {
          problems.push(`${str(pattern)}: ${messageOf(error)}`);
          return [];
        }
      });
      if (problems.length > 0 && events.length === 0) throw new CommandError(problems.join("; "));
      return events;
    },
  }),
};
