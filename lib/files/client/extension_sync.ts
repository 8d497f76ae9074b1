/**
 * Copies custom modules from the file server (`_modules`, `_grains`, …) into the directory `extension_modules`, from
 * which they are loaded.
 *
 * Salt removes all other files in that directory. This code removes only files that it has copied: operators may also
 * put modules there by hand. Source: the results of Salt 3008.3 `salt/utils/extmods.py` sync.
 * @module
 */

import { environmentDirectory } from "./cache_paths.ts";
import { fileDigest, sameHash } from "./file_digest.ts";
import type { FileClient } from "./file_client.ts";
import { messageOf } from "#lib/errors.ts";
import { dirName } from "#lib/os/paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { PYTHON_FAMILIES } from "#lib/python_bridge/link/messages.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { compareStrings, isMap, type Value } from "#lib/values/value.ts";

/** Where modules go to. */
interface ExtensionPlace {
  /** The option `extension_modules`: a directory for each family. */
  readonly directory: string;
  /** The option `cachedir`. */
  readonly cachedir: string;
  /** Whether modules that are not on the file server any more are removed: the option `clean_dynamic_modules`. */
  readonly clean: boolean;
}

/** Which modules of a family are copied. */
interface ExtensionChoice {
  /** Environments of the file server; of equal names the last one is used. */
  readonly saltenvs: readonly string[];
  /** If set, only modules of these names. */
  readonly only?: readonly string[];
  /** Modules that are not copied. */
  readonly except?: readonly string[];
}

/** The result for a family. */
interface SyncedFamily {
  /** The new and changed modules, `<family>.<module>`, in the file server's order. */
  readonly changed: string[];
  /** Those of them for Python that are copied but not loaded. */
  readonly unloaded: string[];
  /** Whether anything changed, also by removal. */
  readonly touched: boolean;
}

/**
 * The names that a white or black list has for a family: a list, text with commas, or a map of families; the option's,
 * if none is given.
 */
function namesFor(family: string, list: Value, option: Value): string[] | undefined {
  const listed = list ?? option;
  if (!isMap(listed)) return listed === null ? undefined : splitInput(listed);
  const names = listed.get(family);
  return names === undefined || names === null ? undefined : splitInput(names);
}

/** Names of modules' files: Salt's, and those that are loaded here. */
const MODULE_FILES = "E@\\.(pyx?|so|zip|ts|js)$";

/**
 * Copies the modules of one family.
 * @throws {CommandError} If the file server does not give them.
 */
async function syncFamily(
  family: string,
  choice: ExtensionChoice,
  { place, client }: { readonly place: ExtensionPlace; readonly client: FileClient },
): Promise<SyncedFamily> {
  const directory = `${place.directory}/${family}`;
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const record = new SyncRecord(`${place.cachedir}/extmods_synced.json`, family);
  const changed: string[] = [], unloaded: string[] = [], there = new Map<string, string>();
  for (const saltenv of choice.saltenvs) {
    const from = `${environmentDirectory({ cachedir: place.cachedir, saltenv })}/_${family}/`;
    for (const copy of await client.cacheDir(`salt://_${family}`, saltenv, { includePat: MODULE_FILES })) {
      const path = copy.slice(from.length), name = moduleName(path);
      if ((choice.only?.includes(name) ?? true) && !choice.except?.includes(name)) there.set(path, copy);
    }
  }
  for (const [path, copy] of there) {
    if (!await bring(copy, `${directory}/${path}`)) continue;
    const name = `${family}.${moduleName(path)}`;
    changed.push(name);
    const isLoaded = path.endsWith(".py") && PYTHON_FAMILIES.some((one) => one === family);
    if (!isLoaded && /\.(pyx?|so|zip)$/.test(path)) unloaded.push(name);
  }
  const gone = place.clean ? record.paths.filter((path) => !there.has(path)) : [];
  for (const path of gone) removeModule(directory, path);
  record.keep(there.keys(), gone);
  return { changed, unloaded, touched: changed.length + gone.length > 0 };
}

/** The request of a caller of `saltutil.sync_*`. */
export interface SyncRequest {
  /** Environments of the file server. */
  readonly saltenvs: readonly string[];
  /** Names: a list, text with commas, or a map of families. `null`: those of the option. */
  readonly extmod_whitelist: Value;
  /** Names: a list, text with commas, or a map of families. `null`: those of the option. */
  readonly extmod_blacklist: Value;
}

/** The name of a module, from its file's path below the directory of its family. */
function moduleName(path: string): string {
  return path.replace(/(?<=[^/])\.[^./]*$/, "").replaceAll("/", ".");
}

/** The parts of the node that syncing uses. */
export interface SyncHost {
  /** Options of the master or the minion. */
  readonly opts: SyncOpts;
  /** Opens the file client. */
  client(): FileClient;
  /** Aborted when the job is ended. */
  readonly signal: AbortSignal;
  /** Receives errors. */
  log(level: "warning" | "error", message: string): void;
}

/** The options for the destination and the choice of modules. */
export interface SyncOpts {
  readonly extension_modules: string;
  readonly cachedir: string;
  readonly clean_dynamic_modules: boolean;
  readonly extmod_whitelist: Value;
  readonly extmod_blacklist: Value;
}

/**
 * Copies the modules of one family. Errors are logged, as in Salt.
 * @returns The new and changed modules.
 */
export async function syncLogged(family: string, request: SyncRequest, host: SyncHost): Promise<string[]> {
  const { extension_modules: directory, cachedir, clean_dynamic_modules: clean } = host.opts;
  const choice = {
    saltenvs: request.saltenvs,
    only: namesFor(family, request.extmod_whitelist, host.opts.extmod_whitelist),
    except: namesFor(family, request.extmod_blacklist, host.opts.extmod_blacklist),
  };
  try {
    const { changed, unloaded } = await syncFamily(family, choice, {
      place: { directory, cachedir, clean },
      client: host.client(),
    });
    if (unloaded.length > 0) {
      host.log(
        "warning",
        `Kept in ${directory} and not loaded here, because they are for Python: ${unloaded.join(", ")}`,
      );
    }
    return changed;
  } catch (error) {
    host.signal.throwIfAborted();
    host.log("error", `Failed to sync ${family} module: ${messageOf(error)}`);
    return [];
  }
}

/**
 * Copies a module if it differs from the one that is there.
 * @returns Whether it did.
 */
async function bring(from: string, to: string): Promise<boolean> {
  if (isFile(to) && sameHash(await fileDigest(from, "sha256"), await fileDigest(to, "sha256"))) return false;
  Deno.mkdirSync(dirName(to), { recursive: true, mode: 0o700 });
  const temporary = `${dirName(to)}/.${crypto.randomUUID()}.part`;
  try {
    await Deno.copyFile(from, temporary);
    await Deno.chmod(temporary, 0o600);
    await Deno.rename(temporary, to);
  } catch (error) {
    removeIfExists(temporary);
    throw error;
  }
  return true;
}

/** Removes a module, and the directories below the family's that are empty then. */
function removeModule(directory: string, path: string): void {
  removeIfExists(`${directory}/${path}`);
  for (let at = dirName(path); at !== ""; at = dirName(at)) {
    try {
      Deno.removeSync(`${directory}/${at}`);
    } catch {
      return; // not empty, or gone
    }
  }
}

/** The record of copied modules of a family. */
class SyncRecord {
  readonly #path: string;
  readonly #family: string;
  readonly #all: Map<string, readonly string[]>;

  constructor(path: string, family: string) {
    this.#path = path;
    this.#family = family;
    this.#all = readRecord(path);
  }

  /** Their paths below the family's directory. */
  get paths(): readonly string[] {
    return this.#all.get(this.#family) ?? [];
  }

  /** Records the current modules. */
  keep(there: Iterable<string>, gone: readonly string[]): void {
    const paths = [...new Set([...this.paths, ...there])].filter((path) => !gone.includes(path)).sort(compareStrings);
    if (paths.join("\0") === this.paths.join("\0")) return;
    this.#all.set(this.#family, paths);
    writeFileAtomic(this.#path, JSON.stringify(Object.fromEntries(this.#all), undefined, 1));
  }
}

/** The record; empty if it is missing or broken: then nothing is removed. */
function readRecord(path: string): Map<string, readonly string[]> {
  try {
    const record: unknown = JSON.parse(readTextFileIfExists(path) ?? "{}");
    if (typeof record !== "object" || record === null) return new Map();
    return new Map(
      Object.entries(record).filter((entry): entry is [string, string[]] =>
        Array.isArray(entry[1]) && entry[1].every((one) => typeof one === "string" && !one.split("/").includes(".."))
      ),
    );
  } catch {
    return new Map();
  }
}
