/**
 * The master's data about minions, their grains and last pillar, in Salt's files. Written as in Salt 3008
 * (`grains/<id>.p`, `pillar/<id>.p`); older files are read too (`minions/<id>/data.p`, a map with `grains` and
 * `pillar`). Does not know who may see it.
 * Source: salt-protocol section 8.
 * @module
 */

import { removeIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { StoreError } from "../errors.ts";
import { listDirectory, readValue, type StoreLog, storing } from "../os/store_files.ts";
import { isValidId } from "../protocol/minion_id.ts";
import { encode } from "../values/msgpack.ts";
import { compareStrings, isMap, type ValueMap } from "../values/value.ts";

/** The data of one minion. */
export interface MinionData {
  readonly grains: ValueMap;
  /** Its last pillar; empty if it has none. */
  readonly pillar: ValueMap;
}

type Bank = "grains" | "pillar";

/** The minions' data below one `cachedir`. Many threads and processes may use it. */
export class DataCache {
  readonly #cachedir: string;
  readonly #log: StoreLog;

  /** @param options.log Called with files that cannot be read. */
  constructor(cachedir: string, options: { readonly log: StoreLog }) {
    this.#cachedir = cachedir;
    this.#log = options.log;
  }

  /** Stores a minion's grains. @throws {StoreError} If they cannot be written, or the id is invalid. */
  setGrains(id: string, grains: ValueMap): void {
    this.#write("grains", id, grains);
  }

  /** Stores a minion's pillar. @throws {StoreError} If it cannot be written, or the id is invalid. */
  setPillar(id: string, pillar: ValueMap): void {
    this.#write("pillar", id, pillar);
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
   * Removes the data of a minion, its mine too. @returns Whether there was any. @throws {StoreError} If it cannot be
   * removed.
   */
  remove(id: string): boolean {
    if (!isValidId(id)) return false;
    return this.#storing(`forget the minion ${id}`, () => {
      const files = ["grains", "pillar", "mine"].map((bank) => `${this.#cachedir}/${bank}/${id}.p`);
      const old = `${this.#cachedir}/minions/${id}`;
      // Removes all of them, without stopping at the first.
      const removed = [...files, `${old}/data.p`, `${old}/mine.p`].filter((path) => removeIfExists(path)).length;
      removeEmpty(old);
      return removed > 0;
    });
  }

  #write(bank: Bank, id: string, data: ValueMap): void {
    if (!isValidId(id)) throw new StoreError(`Cannot store data of the id ${JSON.stringify(id)}`, this.#cachedir);
    const directory = `${this.#cachedir}/${bank}`;
    this.#storing(`store the ${bank} of ${id}`, () => {
      const bytes = encode(data, "disk");
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
