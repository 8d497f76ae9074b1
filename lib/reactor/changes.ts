/**
 * What operators have changed of the reactor while it runs: entries that `reactor.add` has added, tags that
 * `reactor.delete` has removed, and whether it is the leader. A file of the master's user, which the runner writes and
 * the reactor reads before it takes events; so nothing about it passes over the event bus.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { messageOf } from "#lib/errors.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import type { MapEntry, ReactorMap } from "./reactor_map.ts";

/** What differs from the configuration. */
export interface ReactorChanges {
  /** Entries after those of the configuration. */
  readonly added: readonly MapEntry[];
  /** Tags of the configuration whose entries do not count. */
  readonly deleted: readonly string[];
  /** Whether events start reactions. */
  readonly isLeader: boolean;
}

/** No change. */
export const UNCHANGED: ReactorChanges = { added: [], deleted: [], isLeader: true };

function changesPath(directory: string): string {
  return `${directory}/changes.json`;
}

/** The text of the file; empty if there is none. */
export function changesText(directory: string): string {
  return readTextFileIfExists(changesPath(directory)) ?? "";
}

/**
 * The changes in a text of {@linkcode changesText}.
 * @throws {Error} If it cannot be read.
 */
export function parseChanges(text: string): ReactorChanges {
  if (text === "") return UNCHANGED;
  const value = parseJson(text);
  const added = isMap(value) ? value.get("added") : undefined;
  const deleted = isMap(value) ? value.get("deleted") : undefined;
  if (!isMap(value) || !Array.isArray(added) || !Array.isArray(deleted)) throw new Error("it is no list of changes");
  const entries = added.flatMap((item): MapEntry[] => {
    const tag = isMap(item) ? item.get("tag") : undefined, files = isMap(item) ? item.get("files") : undefined;
    return typeof tag === "string" && Array.isArray(files) ? [{ tag, files: files.map(String) }] : [];
  });
  return { added: entries, deleted: deleted.map(String), isLeader: value.get("leader") !== false };
}

/**
 * Reads the changes of a directory.
 * @throws {Error} With the path, if they cannot be read.
 */
export function readChanges(directory: string): ReactorChanges {
  try {
    return parseChanges(changesText(directory));
  } catch (error) {
    throw new Error(`${changesPath(directory)} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Writes the changes.
 * @throws What writing throws.
 */
export function writeChanges(directory: string, { added, deleted, isLeader }: ReactorChanges): void {
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const value = map({
    added: added.map(({ tag, files }): Value => map({ tag, files: [...files] })),
    deleted: [...deleted],
    leader: isLeader,
  });
  writeFileAtomic(changesPath(directory), dumpJson(value), { mode: 0o600 });
}

/** The entries of the configuration with the changes. */
export function changedEntries({ entries }: ReactorMap, { added, deleted }: ReactorChanges): MapEntry[] {
  return [...entries.filter(({ tag }) => !deleted.includes(tag)), ...added];
}

/** The result of a change, as Salt's runner has it. */
export interface ChangeResult {
  readonly status: boolean;
  readonly comment: string;
}

/**
 * Adds an entry.
 * @returns The new changes, if there is no entry of that tag, and the result.
 */
export function addEntry(
  configured: ReactorMap,
  changes: ReactorChanges,
  entry: MapEntry,
): { readonly changes?: ReactorChanges; readonly result: ChangeResult } {
  if (changedEntries(configured, changes).some(({ tag }) => tag === entry.tag)) {
    return { result: { status: false, comment: "Reactor already exists." } };
  }
  return {
    changes: { ...changes, added: [...changes.added, entry] },
    result: { status: true, comment: "Reactor added." },
  };
}

/**
 * Deletes the entries of a tag.
 * @returns The new changes, if there is one, and the result.
 */
export function deleteEntry(
  configured: ReactorMap,
  changes: ReactorChanges,
  tag: string,
): { readonly changes?: ReactorChanges; readonly result: ChangeResult } {
  if (!changedEntries(configured, changes).some((entry) => entry.tag === tag)) {
    return { result: { status: false, comment: "Reactor does not exists." } };
  }
  const isConfigured = configured.entries.some((entry) => entry.tag === tag) && !changes.deleted.includes(tag);
  return {
    changes: {
      ...changes,
      added: changes.added.filter((entry) => entry.tag !== tag),
      deleted: isConfigured ? [...changes.deleted, tag] : changes.deleted,
    },
    result: { status: true, comment: "Reactor deleted." },
  };
}
