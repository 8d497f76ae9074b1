/**
 * Finds which of this host's plugins have changed since the last synchronisation: compares the directory with file
 * digests in the minion's cache. Loads nothing.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { hashHex } from "../crypto/hash.ts";
import { compareStrings } from "../values/value.ts";

/** The directory of plugins, and the record of their digests. */
export interface ExtensionStore {
  /** The directory of plugins (`extension_modules`), with a directory for each family. */
  readonly directory: string;
  /** The file of digests: JSON, `{"modules/x.ts": "<sha256>"}`. */
  readonly record: string;
}

/** Which modules to check, by name; others are left alone. */
export interface ModuleChoice {
  /** If set, only these modules are checked. */
  readonly only?: readonly string[];
  /** Modules to leave alone. */
  readonly except?: readonly string[];
}

/**
 * The modules of `family` that were added, changed or removed since the last call, as `<family>.<module>`, sorted.
 * Updates the record: a second call finds nothing.
 */
export function syncFamily(family: string, store: ExtensionStore, choice: ModuleChoice = {}): string[] {
  const chosen = (file: string) => {
    const name = moduleName(file);
    return (choice.only?.includes(name) ?? true) && !(choice.except?.includes(name) ?? false);
  };
  const known = readRecord(store.record);
  const now = digests(family, store.directory);
  const candidates = new Set([...known.keys(), ...now.keys()].filter((file) => file.startsWith(`${family}/`)));
  const changed = [...candidates].filter((file) => chosen(file) && known.get(file) !== now.get(file));
  if (changed.length === 0) return [];
  for (const file of changed) {
    const digest = now.get(file);
    if (digest === undefined) known.delete(file);
    else known.set(file, digest);
  }
  writeFileAtomic(store.record, JSON.stringify(Object.fromEntries(known), undefined, 1));
  return [...new Set(changed.map((file) => `${family}.${moduleName(file)}`))].sort(compareStrings);
}

function moduleName(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
}

function digests(family: string, directory: string): Map<string, string> {
  const found = new Map<string, string>();
  try {
    for (const { name, isDirectory } of Deno.readDirSync(`${directory}/${family}`)) {
      if (isDirectory || !/^[A-Za-z]\w*\.(ts|js)$/.test(name)) continue;
      found.set(`${family}/${name}`, hashHex(Deno.readFileSync(`${directory}/${family}/${name}`), "sha256"));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found;
}

/** The recorded digests; empty if the record is missing or broken, so that everything counts as new. */
function readRecord(path: string): Map<string, string> {
  try {
    const record: unknown = JSON.parse(readTextFileIfExists(path) ?? "{}");
    if (typeof record !== "object" || record === null) return new Map();
    return new Map(Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return new Map();
  }
}
