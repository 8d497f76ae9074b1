/**
 * The modes of bonds by name and number, and the algorithms that distribute a bond's load.
 * Source: Salt 3008.3, `salt/modules/debian_ip.py`, `salt/modules/rh_ip.py`; the kernel's documentation of bonding.
 * @module
 */

import { isAmong, type Value, type ValueMap } from "#lib/values/value.ts";
import { requireSetting, wrongSetting } from "./interface_settings.ts";

const MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];

/**
 * The number of a bonding mode that a setting names.
 * @throws Python's AttributeError if it names none.
 */
export function bondMode(settings: ValueMap, iface: string): number {
  const mode = requireSetting(settings, "mode");
  const index = MODES.findIndex((name, i) => mode === name || mode === String(i));
  if (index < 0) throw wrongSetting(iface, "mode", [...MODES.keys(), ...MODES]);
  return index;
}

/** The algorithm that distributes the load, out of the allowed ones. */
export function hashPolicy(settings: ValueMap, iface: string, allowed: readonly string[]): Value | undefined {
  const value = settings.get("hashing-algorithm");
  if (value === undefined) return undefined;
  if (!isAmong(value, allowed)) throw wrongSetting(iface, "hashing-algorithm", allowed);
  return value;
}
