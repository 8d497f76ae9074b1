/**
 * Any bank of Salt's cache, as the runner `cache` shows and changes it: `<cachedir>/<bank>/<key>.p`. Names of banks and
 * keys come from every user who may run the runner, so they never lead out of the cache directory. Source: Salt 3008.3
 * `salt/cache/localfs.py`.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import { removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { ChangeNotes } from "#lib/os/change_notes.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { listDirectory, readValue, type StoreLog, storing } from "#lib/os/store_files.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { encode } from "#lib/values/msgpack.ts";
import { isMap, toNumber, type Value } from "#lib/values/value.ts";

/** The banks whose changes are noted. */
const NOTED: readonly string[] = ["grains", "pillar", "mine"];

/** The banks below one cache directory. */
export class BankFiles {
  readonly #cachedir: string;
  readonly #log: StoreLog;
  readonly #notes: ChangeNotes | undefined;

  /**
   * @param options.log Called with files that cannot be read.
   * @param options.notes Where changes of minions' data are noted for other masters.
   */
  constructor(cachedir: string, options: { readonly log: StoreLog; readonly notes?: ChangeNotes | undefined }) {
    this.#cachedir = cachedir;
    this.#log = options.log;
    this.#notes = options.notes;
  }

  /**
   * Stores `data` under a key.
   * @throws {StoreError} If it cannot be written, or a name is invalid.
   */
  store(bank: string, key: string, data: Value): void {
    const path = this.#file(bank, key);
    storing(`store ${key} in ${bank}`, path, () => {
      writeFileAtomic(path, encode(data, "disk"), { makeDirectory: true });
    });
    this.#note(bank, [key]);
  }

  /**
   * The data of a key; an empty map if there is none, or it has expired.
   * @throws {StoreError} For an invalid name.
   */
  fetch(bank: string, key: string): Value {
    const value = readValue(this.#file(bank, key), this.#log);
    if (value === undefined) return new Map();
    if (!isMap(value) || value.size !== 2 || !value.has("data") || !value.has("_expires")) return value;
    // A value with a time limit, in seconds since the epoch.
    return (toNumber(value.get("_expires")) ?? 0) * 1000 > Date.now() ? value.get("data") ?? null : new Map();
  }

  /**
   * The keys of a bank and the banks within it, sorted.
   * @throws {StoreError} For an invalid name.
   */
  list(bank: string): string[] {
    return listDirectory(this.#directory(bank), this.#log)
      .map(({ name }) => name.endsWith(".p") ? name.slice(0, -2) : name);
  }

  /**
   * Removes a key, or a whole bank with the banks within it.
   * @returns Whether there was one.
   * @throws {StoreError} If it cannot be removed, or a name is invalid.
   */
  flush(bank: string, key?: string): boolean {
    const path = key === undefined ? this.#directory(bank) : this.#file(bank, key);
    const keys = key === undefined && NOTED.includes(bank) ? this.list(bank) : key === undefined ? [] : [key];
    const done = storing(`flush ${bank}`, path, () => {
      if (key !== undefined) return removeIfExists(path);
      if (!isDirectory(path)) return false;
      Deno.removeSync(path, { recursive: true });
      return true;
    });
    if (done) this.#note(bank, keys);
    return done;
  }

  #note(bank: string, keys: readonly string[]): void {
    if (!NOTED.includes(bank)) return;
    for (const key of keys) if (isValidId(key)) this.#notes?.add(bank, key);
  }

  #directory(bank: string): string {
    return `${this.#cachedir}/${this.#checked(bank, "bank")}`;
  }

  #file(bank: string, key: string): string {
    return `${this.#directory(bank)}/${this.#checked(key, "key")}.p`;
  }

  /** A name may have parts, as `minions/web1`. */
  #checked(name: string, what: string): string {
    const isName = name !== "" && !name.includes("\0") &&
      name.split("/").every((part) => part !== "" && part !== "." && part !== "..");
    if (!isName) throw new StoreError(`${JSON.stringify(name)} is no ${what}`, this.#cachedir);
    return name;
  }
}
