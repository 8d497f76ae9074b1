/**
 * Beacon `watchdog`: changes in directories. Salt has a Python library for it; here it is inotify as well.
 * Source: Salt 3008.3 `salt/beacons/watchdog.py`; the reports of the library watchdog on Linux.
 * @module
 */

import { type FileEvent, FileWatches } from "#lib/host/filesystem/file_watches.ts";
import { INOTIFY_MASKS } from "#lib/libc/inotify.ts";
import { type BeaconConfig, type BeaconModule, mapOr } from "#lib/plugins/beacon.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

const KINDS = ["create", "modify", "delete", "move"];
const { create, delete: deleted, modify, attrib, moved_from, moved_to } = INOTIFY_MASKS;
const ALL = create | deleted | modify | attrib | moved_from | moved_to;

function validate({ all }: BeaconConfig): string | undefined {
  if (!all.has("directories")) return "Configuration for watchdog beacon must include directories.";
  const directories = mapOr(all.get("directories"));
  if (directories === undefined) return "Configuration for watchdog beacon directories must be a dictionary.";
  for (const given of directories.values()) {
    const config = mapOr(given), mask = config?.get("mask");
    if (config === undefined) return "Configuration for watchdog beacon directory path must be a dictionary.";
    if (mask === undefined) continue;
    if (!Array.isArray(mask)) return "Configuration for watchdog beacon mask must be list.";
    if (mask.some((kind) => !KINDS.includes(str(kind)))) {
      return "Configuration for watchdog beacon contains invalid mask";
    }
  }
  return undefined;
}

type Told = readonly [kind: string, change: string, path: string];

/** What the events say; the two ends of a move within the watched directories are one. */
function readTold(events: readonly FileEvent[]): Told[] {
  const isMove = new Map(events.filter(({ mask }) => (mask & moved_to) !== 0).map((event) => [event.cookie, event]));
  const starts = new Set(events.filter(({ mask }) => (mask & moved_from) !== 0).map(({ cookie }) => cookie));
  return events.flatMap(({ mask, path, cookie }): Told[] => {
    if ((mask & moved_from) !== 0) {
      return isMove.has(cookie) ? [["move", "moved", path]] : [["delete", "deleted", path]];
    }
    if ((mask & moved_to) !== 0) return starts.has(cookie) ? [] : [["create", "created", path]];
    if ((mask & create) !== 0) return [["create", "created", path]];
    if ((mask & deleted) !== 0) return [["delete", "deleted", path]];
    return [["modify", "modified", path]];
  });
}

function kindsOf(config: Value | undefined): readonly Value[] {
  const mask = mapOr(config)?.get("mask");
  return Array.isArray(mask) ? mask : KINDS;
}

export const beacon: BeaconModule = {
  doc: "Changes in directories: what was created, modified, deleted or moved.",
  permissions: "all",
  keys: ["directories"],
  validate,
  open({ all }, host) {
    const directories = mapOr(all.get("directories")) ?? new Map();
    const watches = new FileWatches({
      onEvents(events) {
        const changes: ValueMap[] = [];
        for (const [directory, config] of directories) {
          const kinds = kindsOf(config);
          for (const [kind, change, path] of readTold(events.filter(({ root }) => root === directory))) {
            if (kinds.includes(kind)) changes.push(map({ tag: "watchdog", path, change }));
          }
        }
        if (changes.length > 0) host.fire(changes);
      },
      onGone: (path) => host.fail(`${path} is gone, and not watched any more`),
      onProblem: (text) => host.fail(text),
    });
    for (const directory of directories.keys()) {
      const options = { mask: ALL, recurse: false, autoAdd: false, excludes: () => false };
      if (!watches.add(str(directory), options)) host.fail(`No such file or directory: '${str(directory)}'`);
    }
    return watches;
  },
};
