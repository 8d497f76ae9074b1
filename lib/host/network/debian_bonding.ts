/**
 * The options of a bond from a state's settings, as in Debian's `ip` module.
 * Source: Salt 3008.3, `salt/modules/debian_ip.py`; the kernel's documentation of bonding.
 * @module
 */

import { bondMode, hashPolicy } from "./bond_modes.ts";
import { chooseByFlag, integerOf, SWITCH_WORDS, wrongSetting } from "./interface_settings.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

const USUAL: Readonly<Record<string, string>> = {
  ad_select: "0",
  miimon: "100",
  arp_interval: "250",
  downdelay: "200",
  lacp_rate: "0",
  updelay: "0",
};

const LACP_RATES: ReadonlyMap<Value, string> = new Map([["fast", "1"], ["slow", "0"]]);

function setNumber(bond: ValueMap, name: string, settings: ValueMap, iface: string): void {
  let given = settings.get(name);
  if (given === undefined) {
    bond.set(name, USUAL[name]);
    return;
  }
  const rate = name === "lacp_rate";
  if (rate) given = LACP_RATES.get(given) ?? given;
  if (integerOf(given) === undefined) {
    throw wrongSetting(iface, name, rate ? ["fast", "1", "slow", "0"] : ["integer"]);
  }
  bond.set(name, given);
}

function setCarrier(bond: ValueMap, settings: ValueMap, iface: string): void {
  const given = settings.get("use_carrier");
  const carrier = given === undefined ? "on" : chooseByFlag(given, ["1", "0"]);
  if (carrier === undefined) throw wrongSetting(iface, "use_carrier", SWITCH_WORDS);
  bond.set("use_carrier", carrier);
}

function setArp(bond: ValueMap, settings: ValueMap, iface: string): void {
  const targets = settings.get("arp_ip_target");
  if (!Array.isArray(targets) || targets.length < 1 || targets.length > 16) {
    throw wrongSetting(iface, "arp_ip_target", ["list of ips (up to 16)"]);
  }
  bond.set("arp_ip_target", targets.map(str).join(","));
  setNumber(bond, "arp_interval", settings, iface);
}

/**
 * Options of a bond, in the order in which they are written.
 * @param noCarrier Whether the system has no `use_carrier` for mode 1.
 */
export function debianBond(settings: ValueMap, iface: string, noCarrier: boolean): ValueMap {
  const mode = bondMode(settings, iface);
  const bond: ValueMap = new Map([["mode", String(mode)]]);
  const setPrimary = () => {
    const primary = settings.get("primary");
    if (primary !== undefined) bond.set("primary", primary);
  };
  if (mode === 0 || mode === 2) setArp(bond, settings, iface);
  else {
    for (const name of ["miimon", "downdelay", "updelay"]) setNumber(bond, name, settings, iface);
    if (mode === 4) { for (const name of ["lacp_rate", "ad_select"]) setNumber(bond, name, settings, iface); }
    if (mode === 1) setPrimary();
    if (mode !== 1 || !noCarrier) setCarrier(bond, settings, iface);
    if (mode === 5 || mode === 6) setPrimary();
  }
  if (mode === 2 || mode === 4) {
    const policy = hashPolicy(settings, iface, ["layer2", "layer2+3", "layer3+4"]);
    if (policy !== undefined) bond.set("xmit_hash_policy", policy);
  }
  return bond;
}

/** The file of `/etc/modprobe.d` that loads the kernel module for a bond. */
export function bondScript(iface: string, bond: ValueMap): string {
  const options = [...bond].map(([name, value]) => `${str(name)}=${str(value)} `).join("");
  return `alias ${iface} bonding\noptions ${iface} ${options}`;
}
