/**
 * The options of a bond as the Red Hat family's `ip` module takes them from a state's settings.
 * Source: Salt 3008.3, `salt/modules/rh_ip.py`; the kernel's documentation of bonding.
 * @module
 */

import { bondMode, hashPolicy } from "./bond_modes.ts";
import { chooseByFlag, integerOf, SWITCH_WORDS, wrongSetting } from "./interface_settings.ts";
import { isPythonError, pythonError } from "#lib/python/errors.ts";
import { isAmong, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Whether Python's `int(value)` gives a number. */
function isInteger(value: Value): boolean {
  try {
    return integerOf(value) !== undefined;
  } catch (error) {
    if (isPythonError(error, "TypeError")) return false;
    throw error;
  }
}

/**
 * A number of milliseconds for calculations.
 * @throws Python's TypeError for a text.
 */
function countable(value: Value): number {
  const number = typeof value === "string" ? undefined : toNumber(value);
  if (number === undefined) throw pythonError("TypeError", "not all arguments converted during string formatting");
  return number;
}

function putWatch(bond: ValueMap, settings: ValueMap, iface: string): void {
  const names = ["miimon", "downdelay", "updelay"];
  for (const name of names) {
    const given = settings.get(name);
    if (given === undefined) continue;
    if (!isInteger(given)) throw wrongSetting(iface, name, "integer");
    bond.set(name, given);
  }
  const interval = settings.get("miimon");
  if (interval === undefined) return;
  if (!truthy(interval)) {
    throw wrongSetting(iface, "miimon", "nonzero integer");
  }
  const each = countable(interval);
  if (!settings.has("downdelay")) bond.set("downdelay", each * 2);
  for (const name of ["downdelay", "updelay"]) {
    const delay = bond.get(name);
    if (delay !== undefined && countable(delay) % each !== 0) {
      throw wrongSetting(iface, name, `0 or a multiple of miimon (${str(interval)})`);
    }
  }
  const carrier = chooseByFlag(settings.get("use_carrier") ?? "0", ["1", "0"]);
  if (carrier === undefined) throw wrongSetting(iface, "use_carrier", SWITCH_WORDS);
  bond.set("use_carrier", carrier);
}

function putArp(bond: ValueMap, settings: ValueMap, iface: string): void {
  const interval = settings.get("arp_interval");
  if (interval === undefined) return;
  if (!isInteger(interval)) throw wrongSetting(iface, "arp_interval", "integer");
  bond.set("arp_interval", interval);
  const targets = settings.get("arp_ip_target");
  if (!Array.isArray(targets) || targets.length < 1 || targets.length > 16) {
    throw wrongSetting(iface, "arp_ip_target", "list of ips (up to 16)");
  }
  bond.set("arp_ip_target", targets.map(str).join(","));
}

function putAggregation(bond: ValueMap, settings: ValueMap, iface: string): void {
  const rates: readonly Value[] = ["fast", "1", "slow", "0"];
  const rate = settings.get("lacp_rate") ?? "0";
  if (!isAmong(rate, rates)) throw wrongSetting(iface, "lacp_rate", rates);
  bond.set("lacp_rate", rate === "fast" ? "1" : rate === "slow" ? "0" : rate);
  const select = settings.get("ad_select") ?? "0";
  if (!isInteger(select)) throw wrongSetting(iface, "ad_select", "integer");
  bond.set("ad_select", select);
}

const LAYERS = ["layer2", "layer2+3", "layer3+4"];

/**
 * Options of a bond, in the order in which they are written.
 * @param asked.release The first number of the system's release.
 */
export function rhBond(settings: ValueMap, request: { readonly iface: string; readonly release: number }): ValueMap {
  const { iface, release } = request;
  const mode = bondMode(settings, iface);
  const bond: ValueMap = new Map([["mode", String(mode)]]);
  putWatch(bond, settings, iface);
  if (mode === 0 || mode === 2) {
    putArp(bond, settings, iface);
    if (!settings.has("miimon") && !settings.has("arp_interval")) {
      throw wrongSetting(iface, "miimon or arp_interval", "at least one of these is required");
    }
  } else if (!settings.has("miimon")) throw wrongSetting(iface, "miimon", "integer");
  if (mode === 4) putAggregation(bond, settings, iface);
  if (mode === 2 || mode === 4) {
    const encapsulated = mode === 2 ? [] : ["encap2+3", "encap3+4", ...release < 8 ? [] : ["vlan+srcmac"]];
    const policy = hashPolicy(settings, iface, [...LAYERS, ...encapsulated]);
    if (policy !== undefined) bond.set("xmit_hash_policy", policy);
  }
  const primary = settings.get("primary");
  if (primary !== undefined && [1, 5, 6].includes(mode)) bond.set("primary", primary);
  return bond;
}
