/**
 * The master's data about minions, their grains and last pillar, in Salt's files. Written as in Salt 3008
 * (`grains/<id>.p`, `pillar/<id>.p`); older files are read too (`minions/<id>/data.p`, a map with `grains` and
 * `pillar`). Does not know who may see it.
 * Source: docs/protocol.md "cachedir".
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { ChangeNotes } from "#lib/os/change_notes.ts";
import { StoreError } from "#lib/errors.ts";
import { listDirectory, readValue, type StoreLog, storing } from "#lib/os/store_files.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { type BankVisit, scanBank } from "./bank_pack.ts";
import { encode } from "#lib/values/msgpack.ts";
import { compareStrings, isMap, type ValueMap } from "#lib/values/value.ts";

/** The data of one minion. */
export interface MinionData {
  readonly grains: ValueMap;
  /** Its last pillar; empty if it has none. */
  readonly pillar: ValueMap;
}

/** The data of minions that targets can use. */
export type Bank = "grains" | "pillar";

/**
 * Maximum size of the grains of a minion, in bytes of MessagePack. Usual grains have 4,000 to 20,000; a host with a
 * thousand interfaces 200,000. Every target of grains reads all of them.
 */
const MAX_GRAINS_BYTES = 1 << 20;

/** The minions' data below one `cachedir`. Many threads and processes may use it. */
export class DataCache {
  readonly #cachedir: string;
  readonly #log: StoreLog;

  readonly #notes: ChangeNotes | undefined;

  /**
   * @param options.log Called with files that cannot be read.
   * @param options.notes Where changes are noted for other masters.
   */
  constructor(cachedir: string, options: { readonly log: StoreLog; readonly notes?: ChangeNotes | undefined }) {
    this.#cachedir = cachedir;
    this.#log = options.log;
    this.#notes = options.notes;
  }

  /**
   * Stores a minion's grains.
   * @throws {StoreError} If they cannot be written, the id is invalid, or they are too large; then the previous ones
   * are removed, because they may be outdated.
   */
  setGrains(id: string, grains: ValueMap): void {
    const bytes = encode(grains, "disk");
    if (bytes.length > MAX_GRAINS_BYTES) {
      if (isValidId(id) && removeIfExists(`${this.#cachedir}/grains/${id}.p`)) this.#notes?.add("grains", id);
      throw new StoreError(
        `The grains of ${JSON.stringify(id)} take ${bytes.length} bytes, ${MAX_GRAINS_BYTES} are allowed`,
        this.#cachedir,
      );
    }
    this.#write("grains", id, bytes);
    this.#notes?.add("grains", id);
  }

  /**
   * Stores a minion's pillar.
   * @throws {StoreError} If it cannot be written, or the id is invalid.
   */
  setPillar(id: string, pillar: ValueMap): void {
    this.#write("pillar", id, encode(pillar, "disk"));
    this.#notes?.add("pillar", id);
  }

  /** What a bank has of a minion, as MessagePack; `undefined`: nothing. */
  packed(bank: Bank, id: string): Uint8Array | undefined {
    if (!isValidId(id)) return undefined;
    const bytes = readFileIfExists(`${this.#cachedir}/${bank}/${id}.p`);
    if (bytes !== undefined) return bytes;
    const old = asMap(this.#read(`minions/${id}/data.p`)?.get(bank));
    return old && encode(old, "disk");
  }

  /**
   * Stores what another master has of a minion, or removes it.
   * @param bytes MessagePack of a map, which the caller has checked.
   * @throws {StoreError} If it cannot be written, or the id is invalid.
   */
  setPacked(bank: Bank, id: string, bytes: Uint8Array | undefined): void {
    if (bytes !== undefined) return this.#write(bank, id, bytes);
    if (!isValidId(id)) throw new StoreError(`Cannot remove data of the id ${JSON.stringify(id)}`, this.#cachedir);
    this.#storing(`remove the ${bank} of ${id}`, () => void removeIfExists(`${this.#cachedir}/${bank}/${id}.p`));
  }

  /** The data of a minion; `undefined` if there is none. */
  get(id: string): MinionData | undefined {
    if (!isValidId(id)) return undefined;
    const old = this.#read(`minions/${id}/data.p`);
    const grains = this.#read(`grains/${id}.p`) ?? asMap(old?.get("grains"));
    const pillar = this.#read(`pillar/${id}.p`) ?? asMap(old?.get("pillar"));
    if (grains === undefined && pillar === undefined) return undefined;
    return { grains: grains ?? new Map(), pillar: pillar ?? new Map() };
  }

  /**
   * Calls `begin` and then its result with the data of each minion, as MessagePack. Calls `begin` again if it has to
   * start again.
   */
  scan(bank: Bank, begin: () => BankVisit): void {
    const directory = `${this.#cachedir}/${bank}`, path = `${this.#cachedir}/${bank}.pack`;
    const old = listDirectory(`${this.#cachedir}/minions`, this.#log);
    let visit: BankVisit = () => {};
    const ids = new Set<string>();
    scanBank({ directory, path, log: this.#log }, () => {
      const inner = visit = begin();
      if (old.length === 0) return inner;
      ids.clear();
      return (name, bytes) => {
        if (bytes !== undefined) ids.add(name);
        inner(name, bytes);
      };
    });
    for (const { name } of old) {
      const data = ids.has(name) ? undefined : asMap(this.#read(`minions/${name}/data.p`)?.get(bank));
      if (data !== undefined) visit(name, encode(data, "disk"));
    }
  }

  /** The ids of the minions with stored grains, sorted. */
  list(): string[] {
    const ids = new Set<string>();
    for (const { name } of listDirectory(`${this.#cachedir}/grains`, this.#log)) {
      if (name.endsWith(".p") && !name.startsWith(".")) ids.add(name.slice(0, -2));
    }
    for (const { name } of listDirectory(`${this.#cachedir}/minions`, this.#log)) {
      if (!ids.has(name) && this.#read(`minions/${name}/data.p`)?.has("grains")) ids.add(name);
    }
    return [...ids].sort(compareStrings);
  }

  /**
   * Removes the data of a minion, its mine too.
   * @returns Whether there was any.
   * @throws {StoreError} If it cannot be removed.
   */
  remove(id: string): boolean {
    if (!isValidId(id)) return false;
    return this.#storing(`forget the minion ${id}`, () => {
      const files = ["grains", "pillar", "mine", "mine_times"].map((bank) => `${this.#cachedir}/${bank}/${id}.p`);
      const old = `${this.#cachedir}/minions/${id}`;
      // Removes all of them, without stopping at the first.
      const removed = [...files, `${old}/data.p`, `${old}/mine.p`].filter((path) => removeIfExists(path)).length;
      removeEmpty(old);
      if (removed > 0) { for (const bank of ["grains", "pillar", "mine"]) this.#notes?.add(bank, id); }
      return removed > 0;
    });
  }

  #write(bank: Bank, id: string, bytes: Uint8Array): void {
    if (!isValidId(id)) throw new StoreError(`Cannot store data of the id ${JSON.stringify(id)}`, this.#cachedir);
    const directory = `${this.#cachedir}/${bank}`;
    this.#storing(`store the ${bank} of ${id}`, () => {
      try {
        writeFileAtomic(`${directory}/${id}.p`, bytes);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeFileAtomic(`${directory}/${id}.p`, bytes);
      }
    });
  }

  #read(file: string): ValueMap | undefined {
    return asMap(readValue(`${this.#cachedir}/${file}`, this.#log));
  }

  #storing<T>(what: string, run: () => T): T {
    return storing(`${what} in ${this.#cachedir}`, this.#cachedir, run);
  }
}

function asMap(value: Parameters<typeof isMap>[0]): ValueMap | undefined {
  return isMap(value) ? value : undefined;
}

/** Removes a directory if it is empty: the user's files stay. */
function removeEmpty(directory: string): void {
  try {
    Deno.removeSync(directory);
  } catch {
    // It does not exist, or `file_recv` put files into it.
  }
}
