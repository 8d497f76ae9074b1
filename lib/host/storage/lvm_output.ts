/**
 * Parsers for the output of LVM's programs. Pure functions over text.
 * Source: Salt 3008.3, `salt/modules/linux_lvm.py`; pvdisplay(8), vgdisplay(8), lvdisplay(8).
 * @module
 */

import type { Value, ValueMap } from "#lib/values/value.ts";

const PHYSICAL = [
  "Physical Volume Device",
  "Volume Group Name",
  "Physical Volume Size (kB)",
  "Internal Physical Volume Number",
  "Physical Volume Status",
  "Physical Volume (not) Allocatable",
  "Current Logical Volumes Here",
  "Physical Extent Size (kB)",
  "Total Physical Extents",
  "Free Physical Extents",
  "Allocated Physical Extents",
];

const GROUP = [
  "Volume Group Name",
  "Volume Group Access",
  "Volume Group Status",
  "Internal Volume Group Number",
  "Maximum Logical Volumes",
  "Current Logical Volumes",
  "Open Logical Volumes",
  "Maximum Logical Volume Size",
  "Maximum Physical Volumes",
  "Current Physical Volumes",
  "Actual Physical Volumes",
  "Volume Group Size (kB)",
  "Physical Extent Size (kB)",
  "Total Physical Extents",
  "Allocated Physical Extents",
  "Free Physical Extents",
  "UUID",
];

const LOGICAL = [
  "Logical Volume Name",
  "Volume Group Name",
  "Logical Volume Access",
  "Logical Volume Status",
  "Internal Logical Volume Number",
  "Open Logical Volumes",
  "Logical Volume Size",
  "Current Logical Extents Associated",
  "Allocated Logical Extents",
  "Allocation Policy",
  "Read Ahead Sectors",
  "Major Device Number",
  "Minor Device Number",
];

/** Lines of fields between colons as maps, by their first field. */
function parseColumns(text: string, columns: readonly string[]): Map<string, ValueMap> {
  const rows = text.split("\n").filter((line) => line.trim() !== "").map((line) => line.trim().split(":"));
  return new Map(
    rows.map((fields) => [fields[0], new Map(columns.map((name, i): [Value, Value] => [name, fields[i] ?? ""]))]),
  );
}

/** The physical volumes of `pvdisplay -c`, by device. */
export function parsePhysicalVolumes(text: string): Map<string, ValueMap> {
  const lines = text.split("\n").filter((line) => !line.includes("is a new physical volume"));
  return parseColumns(lines.join("\n"), PHYSICAL);
}

/** The volume groups of `vgdisplay -c`, by name. */
export function parseVolumeGroups(text: string): Map<string, ValueMap> {
  return parseColumns(text, GROUP);
}

/** The logical volumes of `lvdisplay -c`, by path. */
export function parseLogicalVolumes(text: string): Map<string, ValueMap> {
  return parseColumns(text, LOGICAL);
}
