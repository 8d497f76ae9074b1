/**
 * `minion.d/_schedule.conf`: the jobs that were added or changed while the minion ran, in Salt's format.
 *
 * As in Salt, all jobs but those of pillar are written. Salt then reads no others any more: later changes of the main
 * file have no effect. Here the file also says, under `schedule_configured`, which jobs were in the configuration and
 * how they were: so a job that only the configuration changed is read from there.
 * Source: Salt 3008.3 `salt/utils/schedule.py` persist, `salt/config` include_config.
 * @module
 */

import { includeDirectory, SAVED_SCHEDULE } from "#lib/config/files.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { messageOf, YamlError } from "#lib/errors.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { dirName, joinPath } from "#lib/os/paths.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { loadYaml } from "#lib/yaml/load.ts";

/** What the file says. */
export interface SavedSchedule {
  /** Its jobs and settings. */
  readonly schedule: ValueMap;
  /** Digests of the jobs of the configuration when the file was written, by name. */
  readonly configured: ReadonlyMap<Value, Value>;
}

/** The key of {@linkcode SavedSchedule.configured} in the file. Salt ignores it. */
const CONFIGURED = "schedule_configured";

const NOTHING: SavedSchedule = { schedule: new Map(), configured: new Map() };

/** Suffix of a file that was no YAML, as in Salt. */
const BROKEN = "YAMLError";

/** The path of the file. */
export function savedSchedulePath(opts: MinionOpts): string {
  return joinPath(includeDirectory(opts), SAVED_SCHEDULE);
}

/**
 * Reads the file; a broken one is renamed, and its jobs are not there.
 * @param report Called with what is wrong with it.
 */
export function readSavedSchedule(path: string, report: (text: string) => void): SavedSchedule {
  try {
    const text = readTextFileIfExists(path);
    if (text === undefined) return NOTHING;
    const value = loadYaml(text, path);
    const schedule = isMap(value) ? value.get("schedule") ?? null : null;
    const configured = isMap(value) ? value.get(CONFIGURED) ?? null : null;
    if (schedule !== null && !isMap(schedule)) report(`${path}: its "schedule" is not a map, and counts for nothing`);
    return {
      schedule: isMap(schedule) ? schedule : new Map(),
      configured: isMap(configured) ? configured : new Map(),
    };
  } catch (error) {
    if (!(error instanceof YamlError)) {
      report(`${path}: cannot be read: ${messageOf(error)}`);
      return NOTHING;
    }
    report(`${error.message}: renamed to ${SAVED_SCHEDULE}${BROKEN}; the jobs in it do not run`);
    rename(path, report);
    return NOTHING;
  }
}

function rename(path: string, report: (text: string) => void): void {
  try {
    Deno.renameSync(path, `${path}${BROKEN}`);
  } catch (error) {
    report(`${path}: cannot be renamed: ${messageOf(error)}`);
  }
}

/**
 * Writes all jobs and settings.
 * @param own Those of now.
 * @param configured Those of the configuration.
 * @throws {Error} If the file cannot be written.
 */
export function writeSavedSchedule(path: string, own: ValueMap, configured: ValueMap): void {
  const contents: ValueMap = new Map();
  contents.set("schedule", new Map([...own].map(([name, entry]) => [name, withoutState(entry)])));
  if (configured.size > 0) {
    contents.set(CONFIGURED, new Map([...configured].map(([name, entry]) => [name, digestOf(entry)])));
  }
  Deno.mkdirSync(dirName(path), { recursive: true, mode: 0o755 });
  writeFileAtomic(path, dumpYaml(contents), { mode: 0o644 });
}

/** A short digest of an entry. */
function digestOf(entry: Value): string {
  return hashHex(dumpYaml(entry), "sha256").slice(0, 16);
}

/** An entry without what is kept in memory only. */
function withoutState(entry: Value): Value {
  if (!isMap(entry)) return entry;
  const inMemory = ["run_explicit", "skip_explicit"];
  return new Map([...entry].filter(([key]) => !str(key).startsWith("_") && !inMemory.includes(str(key))));
}

/**
 * The jobs of the configuration and those of the file: what was changed while the minion ran wins, what only the
 * configuration changed is read from there. Internal jobs (`__mine_interval`) are not the file's.
 * @param report Called with the name of each job that both changed.
 */
export function joinSchedules(
  configured: ValueMap,
  saved: SavedSchedule,
  report: (name: string) => void,
): ValueMap {
  const joined: ValueMap = new Map();
  for (const [name, entry] of configured) {
    const mark = saved.configured.get(name), own = saved.schedule.get(name);
    if (own === undefined) {
      if (mark === undefined) joined.set(name, entry); // else it was deleted
      continue;
    }
    const digest = digestOf(own), isUnchanged = digest === mark;
    joined.set(name, isUnchanged ? entry : own);
    if (!isUnchanged && digest !== digestOf(entry)) report(str(name));
  }
  for (const [name, entry] of saved.schedule) {
    if (configured.has(name) || str(name).startsWith("__")) continue;
    const isRemoved = digestOf(entry) === saved.configured.get(name);
    if (!isRemoved) joined.set(name, entry);
  }
  return joined;
}
