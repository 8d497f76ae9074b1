/**
 * Link options of a network card (ethtool), as settings for both families of systems. Source: Salt 3008.3,
 * `salt/modules/debian_ip.py`, `salt/modules/rh_ip.py` _parse_ethtool_opts; ethtool(8).
 * @module
 */

import { chooseByFlag, SWITCH_WORDS, wrongSetting } from "./interface_settings.ts";
import { isAmong, str, type ValueMap } from "#lib/values/value.ts";

/** The switches for `ethtool` that both families of systems know. */
const OFFLOADS: readonly string[] = ["rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro"];

/** Adds the setting `name` as `on` or `off`. */
export function putSwitch(options: ValueMap, name: string, settings: ValueMap, iface: string): void {
  const value = settings.get(name);
  if (value === undefined) return;
  const choice = chooseByFlag(value, ["on", "off"]);
  if (choice === undefined) throw wrongSetting(iface, name, SWITCH_WORDS);
  options.set(name, choice);
}

/** `autoneg`, `duplex` and `speed`, as far as they are set. */
export function linkOptions(settings: ValueMap, iface: string): ValueMap {
  const options: ValueMap = new Map();
  putSwitch(options, "autoneg", settings, iface);
  const duplex = settings.get("duplex");
  if (duplex !== undefined) {
    if (!isAmong(duplex, ["full", "half"])) throw wrongSetting(iface, "duplex", ["full", "half"]);
    options.set("duplex", duplex);
  }
  const speed = settings.get("speed");
  if (speed !== undefined) {
    const speeds = ["10", "100", "1000", "10000"];
    if (!speeds.includes(str(speed))) throw wrongSetting(iface, speed, speeds);
    options.set("speed", speed);
  }
  return options;
}

/** Adds the switches of {@linkcode OFFLOADS} that are set. */
export function putOffloads(options: ValueMap, settings: ValueMap, iface: string): void {
  for (const name of OFFLOADS) putSwitch(options, name, settings, iface);
}
