/**
 * Beacon `ps`: whether processes run, by their names.
 * Source: Salt 3008.3 `salt/beacons/ps.py`.
 * @module
 */

import { type BeaconModule, mapOr } from "#lib/plugins/beacon.ts";
import { ProcessNames } from "#lib/procfs/process_names.ts";
import { RememberedValue } from "#lib/runtime/remembered_value.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Looks of several beacons at once read the processes once, in milliseconds. */
const SAME_MS = 50;
const recentNames = new RememberedValue(() => new ProcessNames(), SAME_MS);

function report(name: Value, wanted: Value, runs: boolean): ValueMap[] {
  if (wanted === "running") return runs ? [new Map([[name, "Running"]])] : [];
  if (runs) return [];
  return [new Map([[name, wanted === "stopped" ? "Stopped" : false]])];
}

/** Made of what knows the names, so that tests can say what runs. */
export function psBeacon(names: () => Pick<ProcessNames, "has">): BeaconModule {
  return {
    doc: "Processes that run (`running`), or do not (`stopped`), by their names.",
    permissions: "all",
    keys: ["processes"],
    validate({ all }) {
      if (!all.has("processes")) return "Configuration for ps beacon requires processes.";
      return mapOr(all.get("processes")) === undefined ? "Processes for ps beacon must be a dictionary." : undefined;
    },
    open: ({ all }) => ({
      look() {
        const running = names();
        return [...mapOr(all.get("processes")) ?? []]
          .flatMap(([name, wanted]) => report(name, wanted, running.has(str(name))));
      },
    }),
  };
}

export const beacon: BeaconModule = psBeacon(() => recentNames.get());
