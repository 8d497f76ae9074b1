/**
 * The mine on the master's disk: what minions say about themselves, for other minions. In Salt's files, `mine/<id>.p`
 * of Salt 3008, a map of values by name; those of 3006 and 3007, `minions/<id>/mine.p`, are read where the new one is
 * missing. The times at which values were stored are in files of their own, `mine_times/<id>.p`, which Python Salt does
 * not look at. Does not know who may read what (mine_query.ts).
 * Source: Salt 3008.3 `salt/daemons/masterapi.py`, `salt/cache/localfs.py`.
 * @module
 */

import { messageOf, StoreError } from "#lib/errors.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { ChangeNotes } from "#lib/os/change_notes.ts";
import { withFileLock } from "#lib/os/file_lock.ts";
import { changedMs, readDirectory, readValue, type StoreLog, storing } from "#lib/os/store_files.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { encode } from "#lib/values/msgpack.ts";
import { float, isMap, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { type BankPackPlace, type BankVisit, changeBankFile, scanBank } from "./bank_pack.ts";

/** Up to so many minions, their own files are read: opening one takes as long as reading 200 from the pack. */
const FEW_MINIONS = 50;

/** When the values of a minion were stored. */
export interface MineTimes {
  /** Milliseconds since the epoch, by name. */
  readonly stored: ValueMap;
  /** That of values without one: the last change of the file. */
  readonly changedMs: number;
}

/** Ids of minions: a set, or the keys of a map. */
export type MinionIds = Pick<ReadonlySet<string>, "size" | "has" | "keys">;

/** Options of {@linkcode Mine}. */
export interface MineOptions {
  /** Maximum size of the mine of one minion, in bytes of MessagePack. */
  readonly maxBytes: number;
  /** Called with files that cannot be read. */
  readonly log: StoreLog;
  /** Where changes are noted for other masters. */
  readonly notes?: ChangeNotes | undefined;
}

/** The mine of one minion, as masters give it to each other. */
export interface PackedMine {
  /** The stored map, as MessagePack. */
  readonly values: Uint8Array;
  /** When each value was stored, in milliseconds since the epoch, by name. */
  readonly times: ValueMap;
}

/** The mines of all minions below one `cachedir`. Many threads and processes may use it. */
export class Mine {
  readonly #cachedir: string;
  readonly #options: MineOptions;
  readonly #values: BankPackPlace & { readonly lock: string };

  constructor(cachedir: string, options: MineOptions) {
    this.#cachedir = cachedir;
    this.#options = options;
    this.#values = {
      directory: `${cachedir}/mine`,
      path: `${cachedir}/mine.pack`,
      lock: `${cachedir}/mine.lock`,
      log: options.log,
    };
  }

  /** The stored map of a minion, values with readers as they are stored; `undefined` if there is none. */
  get(id: string): ValueMap | undefined {
    if (!isValidId(id)) return undefined;
    for (const path of [`${this.#values.directory}/${id}.p`, this.#oldPath(id)]) {
      const stored = readValue(path, this.#options.log);
      if (stored !== undefined) return isMap(stored) ? stored : undefined;
    }
    return undefined;
  }

  /**
   * Stores values of a minion.
   * @param options.clear Whether they replace all that there is. Default: values of other names stay.
   * @throws {StoreError} If the mine would be too large, or cannot be written; then it stays as it was.
   */
  store(id: string, data: ValueMap, { clear = false }: { readonly clear?: boolean } = {}): void {
    this.#changing(id, "store", () => {
      const before = clear ? undefined : this.get(id);
      const values = new Map([...before ?? [], ...data]);
      const bytes = encode(values, "disk");
      const { maxBytes } = this.#options;
      if (bytes.length > maxBytes) {
        throw new Error(`it would take ${bytes.length} bytes, mine_max_bytes allows ${maxBytes}`);
      }
      const times = before === undefined ? [] : this.#timesOf(id, before);
      const now = Date.now();
      changeBankFile(this.#values, id, bytes);
      this.#writeTimes(id, new Map([...times, ...[...data.keys()].map((name): [Value, Value] => [name, now])]));
    });
  }

  /**
   * Removes a value of a minion.
   * @returns Whether the minion has a mine.
   * @throws {StoreError} If it cannot be written.
   */
  delete(id: string, name: Value): boolean {
    return this.#changing(id, "change", () => {
      const values = this.get(id);
      if (values === undefined) return false;
      const times = new Map(this.#timesOf(id, values));
      if (!values.delete(name)) return true;
      times.delete(name);
      changeBankFile(this.#values, id, encode(values, "disk"));
      this.#writeTimes(id, times);
      return true;
    });
  }

  /**
   * Removes all values of a minion.
   * @returns Whether there were any.
   * @throws {StoreError} If they cannot be removed.
   */
  flush(id: string): boolean {
    return this.#changing(id, "flush", () => {
      const removed = [changeBankFile(this.#values, id, undefined), removeIfExists(this.#oldPath(id))];
      removeIfExists(this.#timesPath(id));
      return removed.includes(true);
    });
  }

  /**
   * Calls `visit` with the mine of each of `ids` that has one, as MessagePack. Called again for an id, the last call
   * counts; without bytes, there is none.
   */
  read(ids: MinionIds, visit: BankVisit): void {
    if (ids.size <= FEW_MINIONS) {
      for (const id of ids.keys()) {
        const bytes = this.#bytes(`${this.#values.directory}/${id}.p`) ?? this.#bytes(this.#oldPath(id));
        if (bytes !== undefined) visit(id, bytes);
      }
      return;
    }
    const old = readDirectory(`${this.#cachedir}/minions`, this.#options.log).filter(({ name }) => ids.has(name));
    const found = new Set<string>();
    scanBank(this.#values, () => (id, bytes) => {
      if (!ids.has(id)) return;
      if (bytes === undefined) found.delete(id);
      else if (old.length > 0) found.add(id);
      visit(id, bytes);
    });
    for (const { name } of old) {
      const bytes = found.has(name) ? undefined : this.#bytes(this.#oldPath(name));
      if (bytes !== undefined) visit(name, bytes);
    }
  }

  /** The mine of a minion for another master; `undefined`: there is none. */
  packed(id: string): PackedMine | undefined {
    const values = this.get(id);
    return values && { values: encode(values, "disk"), times: new Map(this.#timesOf(id, values)) };
  }

  /**
   * Stores what another master has of a minion, or removes it.
   * @param mine Its values are MessagePack of a map, which the caller has checked.
   * @throws {StoreError} If it cannot be written.
   */
  setPacked(id: string, mine: PackedMine | undefined): void {
    this.#locked(id, "take over", () => {
      changeBankFile(this.#values, id, mine?.values);
      if (mine !== undefined) return this.#writeTimes(id, mine.times);
      removeIfExists(this.#oldPath(id));
      removeIfExists(this.#timesPath(id));
    });
  }

  /** When the values of a minion were stored; `undefined` if it has no mine. */
  times(id: string): MineTimes | undefined {
    const changed = changedMs(`${this.#values.directory}/${id}.p`) ?? changedMs(this.#oldPath(id));
    if (changed === undefined) return undefined;
    const times = readValue(this.#timesPath(id), this.#options.log) ?? null;
    const stored = isMap(times) ? times.get("stored") : undefined;
    // Otherwise another master has stored something since: then the time of the file is the best that is known.
    const isOurs = isMap(times) && isMap(stored) && toNumber(times.get("changed")) === changed;
    return { stored: isOurs ? stored : new Map(), changedMs: changed };
  }

  #bytes(path: string): Uint8Array | undefined {
    try {
      return readFileIfExists(path);
    } catch (error) {
      this.#options.log(`Cannot read ${path}: ${messageOf(error)}`, error);
      return undefined;
    }
  }

  #timesPath(id: string): string {
    return `${this.#cachedir}/mine_times/${id}.p`;
  }

  #oldPath(id: string): string {
    return `${this.#cachedir}/minions/${id}/mine.p`;
  }

  /** The time of each value that there is. */
  #timesOf(id: string, values: ValueMap): [Value, Value][] {
    const times = this.times(id);
    if (times === undefined) return [];
    return [...values.keys()].map((name) => [name, times.stored.get(name) ?? times.changedMs]);
  }

  #writeTimes(id: string, stored: ValueMap): void {
    const changed = changedMs(`${this.#values.directory}/${id}.p`) ?? 0;
    const times = new Map<Value, Value>([["changed", changed], ["stored", stored]]);
    writeFileAtomic(this.#timesPath(id), encode(times, "disk"), { makeDirectory: true });
  }

  #changing<T>(id: string, what: string, run: () => T): T {
    const result = this.#locked(id, what, run);
    this.#options.notes?.add("mine", id);
    return result;
  }

  #locked<T>(id: string, what: string, run: () => T): T {
    if (!isValidId(id)) throw new StoreError(`There is no mine of the id ${JSON.stringify(id)}`, this.#cachedir);
    return storing(`${what} the mine of ${id} in ${this.#cachedir}`, this.#cachedir, () => {
      const done = withFileLock(this.#values.lock, () => ({ result: run() }));
      if (done === undefined) throw new Error(`another process keeps ${this.#values.lock} locked`);
      return done.result;
    });
  }
}

/** The age of a value, in seconds. */
export function ageOf(name: Value, { stored, changedMs }: MineTimes, nowMs: number): number {
  return Math.max(0, nowMs - (toNumber(stored.get(name)) ?? changedMs)) / 1000;
}

/** An age for people: in seconds, with tenths. */
export function roundAge(ageS: number): Value {
  return float(Math.round(ageS * 10) / 10);
}
