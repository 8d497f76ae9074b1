/**
 * Beacon `inotify`: changes of files and directories, told by the kernel.
 * Source: Salt 3008.3 `salt/beacons/inotify.py`.
 * @module
 */

import { type BeaconConfig, type BeaconHost, type BeaconModule, isSet, mapOr } from "#lib/plugins/beacon.ts";
import { type FileEvent, FileWatches, maskName } from "#lib/host/filesystem/file_watches.ts";
import { RegexError } from "#lib/errors.ts";
import { INOTIFY_MASKS } from "#lib/libc/inotify.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

const MASKS: ReadonlyMap<Value, number> = new Map(
  Object.entries(INOTIFY_MASKS).filter(([name]) => !["isdir", "overflow", "mask_add"].includes(name)),
);
const DEFAULT_MASK = INOTIFY_MASKS.create | INOTIFY_MASKS.delete | INOTIFY_MASKS.modify;
const KEYS = ["mask", "recurse", "auto_add"];
/** A path that is not there is looked for again after this time, in milliseconds. */
const MISSING_MS = 5_000;
/** One that was replaced is there after this time, in milliseconds. */
const REPLACED_MS = 50;

function fileText(given: Value): string | undefined {
  const config = mapOr(given);
  if (config === undefined) return "Configuration for inotify beacon must be a list of dictionaries.";
  if (!KEYS.some((key) => config.has(key))) {
    return "Configuration for inotify beacon must contain mask, recurse or auto_add items.";
  }
  for (const key of ["auto_add", "recurse"]) {
    if (config.has(key) && typeof config.get(key) !== "boolean") {
      return `Configuration for inotify beacon ${key} must be boolean.`;
    }
  }
  const mask = config.get("mask");
  if (mask === undefined) return undefined;
  if (!Array.isArray(mask)) return "Configuration for inotify beacon mask must be list.";
  const other = mask.find((name) => !MASKS.has(name));
  return other === undefined ? undefined : `Configuration for inotify beacon invalid mask option ${str(other)}.`;
}

function validate({ all }: BeaconConfig): string | undefined {
  if (!all.has("files")) return "Configuration for inotify beacon must include files.";
  const files = mapOr(all.get("files"));
  if (files === undefined) return "Configuration for inotify beacon invalid, files must be a dict.";
  for (const given of files.values()) {
    const text = fileText(given);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A pattern that is searched for. One that is broken, or takes too many steps, is named and excludes nothing. */
function searcher(pattern: string, host: BeaconHost): (path: string) => boolean {
  const tell = (error: unknown): false => {
    if (!(error instanceof RegexError)) throw error;
    host.fail(`exclude: ${error.message}`);
    return false;
  };
  try {
    const regex = pythonRegex(pattern, { search: true });
    return (path) => {
      try {
        return regex.test(path);
      } catch (error) {
        return tell(error);
      }
    };
  } catch (error) {
    tell(error);
    return () => false;
  }
}

/** One `exclude`: a path whose tree is left out, a glob, or a pattern that is searched for. */
function exclusion(given: Value, host: BeaconHost): (path: string) => boolean {
  const pair = mapOr(given)?.entries().next().value;
  const text = str(pair === undefined ? given : pair[0]);
  if (pair !== undefined && isMap(pair[1]) && isSet(pair[1], "regex")) {
    return searcher(text, host);
  }
  return text.includes("*") ? (path) => matchesGlob(text, path) : (path) => path.startsWith(text);
}

function optionsOf(config: ValueMap, host: BeaconHost) {
  const names = config.get("mask"), excluded = config.get("exclude");
  const mask = Array.isArray(names) ? names.reduce<number>((bits, name) => bits | (MASKS.get(name) ?? 0), 0) : 0;
  const exclusions = Array.isArray(excluded) ? excluded.map((one) => exclusion(one, host)) : [];
  return {
    mask: Array.isArray(names) ? mask : DEFAULT_MASK,
    recurse: isSet(config, "recurse"),
    autoAdd: isSet(config, "auto_add"),
    excludes: (path: string) => exclusions.some((excludes) => excludes(path)),
  };
}

/** The data of the events; with `coalesce`, equal ones of one report are one. */
function dataOf(events: readonly FileEvent[], coalesce: boolean): ValueMap[] {
  const seen = new Set<string>();
  return events.flatMap(({ watched, path, mask, cookie }) => {
    const key = `${watched}\0${path}\0${mask}\0${cookie}`;
    if (coalesce && seen.has(key)) return [];
    seen.add(key);
    return [map({ tag: watched, path, change: maskName(mask) })];
  });
}

export const beacon: BeaconModule = {
  doc: "Changes of files and directories, told by the kernel when they happen.",
  permissions: "all",
  keys: ["files", "coalesce"],
  unavailable: () => Deno.build.os === "linux" ? undefined : "inotify is only on Linux.",
  validate,
  open({ all }, host) {
    const coalesce = all.get("coalesce") === true;
    const files = [...mapOr(all.get("files")) ?? []].map(([path, config]) => ({
      path: str(path),
      options: optionsOf(mapOr(config) ?? new Map(), host),
    }));
    const byPath = new Map(files.map(({ path, options }) => [path, options]));
    const missing = new Set<string>();
    let timer: Timer | undefined;
    const watches = new FileWatches({
      onEvents(events) {
        const kept = events.filter(({ root, path }) => byPath.get(root)?.excludes(path) !== true);
        if (kept.length > 0) host.fire(dataOf(kept, coalesce));
      },
      // A file that is replaced by another of its name is watched again.
      onGone(path) {
        missing.add(path);
        lookLater(REPLACED_MS);
      },
      onProblem: (text) => host.fail(text),
    });
    const lookLater = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(look, ms);
    };
    const look = () => {
      for (const path of [...missing]) {
        const options = byPath.get(path);
        if (options !== undefined && watches.add(path, options)) missing.delete(path);
      }
      if (missing.size > 0) lookLater(MISSING_MS);
    };
    for (const { path } of files) missing.add(path);
    look();
    return {
      close() {
        clearTimeout(timer);
        watches.close();
      },
    };
  },
};
