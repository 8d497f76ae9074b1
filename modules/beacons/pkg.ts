/**
 * Beacon `pkg`: packages whose state changes: an upgrade is there, it was installed, it was removed.
 * Source: Salt 3008.3 `salt/beacons/pkg.py`.
 * @module
 */

import { type BeaconHost, type BeaconModule, isSet } from "#lib/plugins/beacon.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

type Status = "installed" | "upgrade" | "not-installed";

async function statusOf(
  name: string,
  refresh: boolean,
  host: BeaconHost,
): Promise<{ readonly status: Status; readonly version: Value }> {
  const installed = await host.call("pkg.version", [name]);
  if (!truthy(installed)) return { status: "not-installed", version: null };
  const latest = await host.call("pkg.latest_version", [name], map({ refresh }));
  return truthy(latest) ? { status: "upgrade", version: latest } : { status: "installed", version: installed };
}

export const beacon: BeaconModule = {
  doc: "Packages that are upgradable, installed or not installed, when that changes.",
  keys: ["pkgs", "refresh"],
  validate: ({ list }) =>
    list.some((one) => Array.isArray(one.get("pkgs")))
      ? undefined
      : "Configuration for pkg beacon requires list of pkgs.",
  open({ list, all }, host) {
    const last = new Map<string, Status>();
    const names = list.flatMap((one) => {
      const pkgs = one.get("pkgs");
      return Array.isArray(pkgs) ? pkgs.map(str) : [];
    });
    return {
      async look() {
        const events: ValueMap[] = [];
        for (const name of names) {
          // One refresh of the lists of packages is enough for a look.
          const { status, version } = await statusOf(name, isSet(all, "refresh") && name === names[0], host);
          const before = last.get(name);
          last.set(name, status);
          if (before !== undefined && before !== status) events.push(map({ pkg: name, version, status }));
        }
        return events;
      },
    };
  },
};
