/**
 * Runner `network`: wakes minions up by Wake-on-LAN.
 * Source: Salt 3008.3 `salt/runners/network.py`.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { acceptedFleet, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { wakeUp } from "#lib/host/network/wake_up.ts";
import { p } from "#lib/plugins/module.ts";
import { isMap, map } from "#lib/values/value.ts";

const TO = { bcast: p.str("255.255.255.255"), destport: p.int(9) };

const ADDRESSED = `

bcast : 255.255.255.255
    The IPv4 broadcast address to send to.

destport : 9
    The UDP port.`;

export const wol: RunnerFunction = runner({
  doc: runnerDoc(
    `Send a Wake-on-LAN packet to a hardware address, written with or without separators.${ADDRESSED}`,
    "network.wol 08-00-27-13-69-77",
    "network.wol 080027136977 255.255.255.255 7",
  ),
  params: { mac: p.str(), ...TO },
  run({ mac, bcast, destport }) {
    wakeUp(mac, bcast, destport);
    return true;
  },
});

export const wollist: RunnerFunction = runner({
  doc: runnerDoc(
    `Send a Wake-on-LAN packet to each of the hardware addresses in a file, one a line.${ADDRESSED}`,
    "network.wollist /path/to/maclist",
    "network.wollist /path/to/maclist 255.255.255.255 7",
  ),
  params: { maclist: p.str(), ...TO },
  async run({ maclist, bcast, destport }, context) {
    const woken: string[] = [];
    try {
      for (const line of Deno.readTextFileSync(maclist).split("\n").slice(0, MAX_LINES)) {
        const mac = line.trim();
        if (mac === "") continue;
        wakeUp(mac, bcast, destport);
        context.print(`Waking up ${mac}`);
        woken.push(mac);
      }
    } catch (error) {
      await context.progress(map({ error: `Failed to open the MAC file. Error: ${messageOf(error)}` }));
      context.setRetcode(1);
      return [];
    }
    return woken;
  },
});

/** More lines are not read: a fleet on one network has fewer. */
const MAX_LINES = 100_000;

export const wolmatch: RunnerFunction = runner({
  doc: runnerDoc(
    `Send a Wake-on-LAN packet to each hardware address in the cached grains of the minions, except the loopback
interface's.${ADDRESSED}`,
    "network.wolmatch web1",
    "network.wolmatch 'web*' bcast=192.168.0.255 destport=7",
  ),
  params: { tgt: p.any(), tgt_type: p.str("glob"), ...TO },
  run({ tgt, tgt_type, bcast, destport }, context) {
    const woken: string[] = [];
    for (const id of resolveTarget({ tgt, tgtType: tgt_type }, acceptedFleet(context.opts, context)).minions) {
      const interfaces = context.data.get(id)?.grains.get("hwaddr_interfaces");
      if (!isMap(interfaces)) continue;
      for (const [name, address] of interfaces) {
        if (name === "lo" || typeof address !== "string") continue;
        const mac = address.trim();
        wakeUp(mac, bcast, destport);
        context.log("info", `Waking up ${mac}`);
        woken.push(mac);
      }
    }
    return woken;
  },
});
