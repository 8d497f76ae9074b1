/**
 * Runs the beacon `network_settings` in the network of this process, which is to be its own, changes it, and writes the
 * events of two configurations as JSON.
 * @module
 */

import { configMaps, ownConfig } from "#lib/plugins/beacon.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { dumpJson } from "#lib/values/json.ts";
import { toValue, type ValueMap } from "#lib/values/value.ts";
import { beacon } from "#modules/beacons/network_settings.ts";
import { eventually } from "#tests/support/eventually.ts";

const configurations = [
  [{ interfaces: { "^l": { mtu: null, ipaddr: null, txqlen: { onvalue: 77 } } } }],
  [{ coalesce: true }, { interfaces: { lo: { mtu: null } } }],
];
const fired: ValueMap[][] = configurations.map(() => []);
const running = await Promise.all(
  configurations.map((given, n) =>
    beacon.open(ownConfig(configMaps(toValue(given)) ?? []), {
      name: "b",
      log: SILENT_LOGGER,
      call: () => Promise.resolve(null),
      fire: (found) => void fired[n].push(...found),
      fail: (reason) => {
        throw new Error(reason);
      },
    })
  ),
);

function ip(...args: string[]): void {
  const { code, stderr } = new Deno.Command("ip", { args }).outputSync();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
}

ip("link", "set", "lo", "mtu", "1400", "txqueuelen", "55");
await eventually(() => fired.every((events) => events.length > 0), { what: "the new MTU" });
ip("address", "add", "10.9.8.7/24", "dev", "lo");
await eventually(() => fired[0].length > 1, { what: "the new address" });
// An interface that is new has no changes.
ip("link", "add", "lnew", "type", "bridge");
ip("link", "set", "lo", "mtu", "1500");
await eventually(() => fired[0].length > 2 && fired[1].length > 1, { what: "the next MTU" });
for (const one of running) one.close?.();
Deno.stdout.writeSync(new TextEncoder().encode(dumpJson(fired)));
