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
import { CommandError, messageOf, YamlError } from "#lib/errors.ts";
import { readTextFileIfExists, statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
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
  /** Why the jobs in the file are not known; writing it would lose them. */
  readonly unread?: string;
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
    if (schedule !== null && !isMap(schedule)) {
      return unread(`${path}: its "schedule" is not a map, and counts for nothing`, report);
    }
    return {
      schedule: schedule ?? new Map(),
      configured: isMap(configured) ? configured : new Map(),
    };
  } catch (error) {
    if (!(error instanceof YamlError)) return unread(`${path}: cannot be read: ${messageOf(error)}`, report);
    report(`${error.message}: renamed to ${SAVED_SCHEDULE}${BROKEN}; the jobs in it do not run`);
    return rename(path, report);
  }
}

function rename(path: string, report: (text: string) => void): SavedSchedule {
  try {
    Deno.renameSync(path, `${path}${BROKEN}`);
    return NOTHING;
  } catch (error) {
    return unread(`${path}: cannot be renamed: ${messageOf(error)}`, report);
  }
}

function unread(why: string, report: (text: string) => void): SavedSchedule {
  report(why);
  return { ...NOTHING, unread: why };
}

/**
 * Checks that writing the file loses no jobs in it.
 * @param saved What was read of it.
 * @throws {CommandError} If it is there, and could not be read.
 */
export function checkSavable(path: string, saved: SavedSchedule): void {
  if (saved.unread === undefined || statIfExists(path) === undefined) return;
  throw new CommandError(
    `${saved.unread}. The schedule was not changed, and the file stays: mend it and restart the minion, or remove it`,
  );
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
