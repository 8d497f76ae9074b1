/**
 * Gives what this master's minions have changed to the other masters, and takes what theirs have: data of minions, and
 * tokens. Each has all of it in its files, so a target costs no question to the database.
 *
 * What has changed here is noted on the disk by whoever changes it, and stays noted until it is in the database. What
 * was taken is remembered by a number for each master.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { ChangeNote, ChangeNotes } from "#lib/os/change_notes.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, toNumber } from "#lib/values/value.ts";
import {
  bankOrigins,
  type BankRow,
  type BankWrite,
  readBankRows,
  readNewerBankRows,
  saveBankRows,
} from "./bank_rows.ts";
import type { ClusterDatabase } from "#lib/cluster/cluster_database.ts";
import type { SharedBanks } from "./shared_banks.ts";

/** What the exchange works with. */
export interface DataExchangeOptions {
  readonly db: Pick<ClusterDatabase, "schema" | "origin" | "read" | "write" | "wake">;
  readonly banks: SharedBanks;
  readonly notes: ChangeNotes;
  /** The file of what was taken. */
  readonly positions: string;
}

/** Rows of one statement, and bytes after which it has enough. */
const MAX_ROWS = 500, MAX_BYTES = 8 << 20;

/** The exchange of one master. */
export class DataExchange {
  readonly #options: DataExchangeOptions;
  #hasSettled = false;

  constructor(options: DataExchangeOptions) {
    this.#options = options;
  }

  /**
   * Gives what has been noted.
   * @throws {DatabaseAwayError} If the database is away: then it stays noted.
   * @throws {StoreError} If it refuses.
   */
  async give(): Promise<void> {
    const { notes, banks } = this.#options;
    if (!this.#hasSettled) await this.#settle();
    this.#hasSettled = true;
    for (let left = notes.take(); left.length > 0; left = notes.take()) {
      for (let i = 0; i < left.length;) {
        const some: ChangeNote[] = [], writes: BankWrite[] = [];
        for (let bytes = 0; i < left.length && some.length < MAX_ROWS && bytes < MAX_BYTES; i++) {
          const write = banks.read(left[i].kind, left[i].name);
          some.push(left[i]);
          if (write !== undefined) writes.push(write);
          bytes += write?.body?.length ?? 0;
        }
        await this.#save(writes, { keepsOthers: false });
        notes.done(some);
      }
    }
  }

  /**
   * What was noted before this process began may be in the database already, and another master may have changed it
   * since: that is taken, and not overwritten.
   */
  async #settle(): Promise<void> {
    const { db, notes, banks } = this.#options, { origin, schema } = db;
    const left = notes.take().filter(({ kind }) => kind !== "tokens");
    for (let i = 0; i < left.length; i += MAX_ROWS) {
      const some = left.slice(i, i + MAX_ROWS).map((note) => ({ ...note, notedMs: notes.notedMs(note) }));
      const rows = await db.read((client) => readNewerBankRows(client, some, { origin, schema }));
      for (const row of rows) banks.write(row);
      const isOver = (note: ChangeNote) => rows.some(({ bank, name }) => bank === note.kind && name === note.name);
      if (rows.length > 0) notes.done(some.filter(isOver));
    }
  }

  /**
   * Gives everything of which the database has nothing.
   * @returns How many rows are new there.
   */
  async giveAll(): Promise<number> {
    const names = this.#options.banks.all();
    let given = 0;
    for (let i = 0; i < names.length;) {
      const writes: BankWrite[] = [];
      for (let bytes = 0; i < names.length && writes.length < MAX_ROWS && bytes < MAX_BYTES; i++) {
        const write = this.#options.banks.read(names[i].kind, names[i].name);
        if (write?.body === undefined) continue;
        writes.push(write);
        bytes += write.body.length;
      }
      given += await this.#save(writes, { keepsOthers: true });
    }
    return given;
  }

  async #save(writes: readonly BankWrite[], { keepsOthers }: { readonly keepsOthers: boolean }): Promise<number> {
    if (writes.length === 0) return 0;
    const { db } = this.#options;
    return await db.write(async (client) => {
      const saved = await saveBankRows(client, writes, { schema: db.schema, origin: db.origin, keepsOthers });
      if (saved > 0) await db.wake(client, "d");
      return saved;
    });
  }

  /** Whether something was taken before. */
  get hasTaken(): boolean {
    return readPositions(this.#options.positions).size > 0;
  }

  /**
   * Takes what other masters have given.
   * @throws {DatabaseAwayError} If the database is away.
   * @throws {StoreError} If a file cannot be written: then it is taken again.
   */
  async take(): Promise<void> {
    const { db, positions: path } = this.#options, { schema } = db;
    const { origins, last } = await db.read((client) => bankOrigins(client, schema));
    const known = readPositions(path);
    // A database that was set back counts again from there.
    const positions = [...known.values()].some((seq) => seq > last) ? new Map([[db.origin, 0]]) : known;
    const isFirst = !positions.has(db.origin);
    for (const origin of origins) {
      // A master that has nothing of its own takes back what it has given.
      if (origin === db.origin && !isFirst) continue;
      for (let rows: BankRow[], above = positions.get(origin) ?? 0;; above = rows[rows.length - 1].seq) {
        rows = await db.read((client) => readBankRows(client, { origin, above, limit: MAX_ROWS }, schema));
        if (rows.length === 0) break;
        for (const row of rows) this.#write(row);
        positions.set(origin, rows[rows.length - 1].seq);
        writePositions(path, positions);
      }
    }
    if (isFirst) writePositions(path, positions.set(db.origin, 0));
  }

  #write(row: BankRow): void {
    const { banks, notes } = this.#options;
    // What has changed here since is given next.
    if (row.bank !== "tokens" && notes.has(row.bank, row.name)) return;
    banks.write(row);
  }
}

function readPositions(path: string): Map<number, number> {
  const text = readTextFileIfExists(path);
  const stored = text === undefined || text === "" ? undefined : parseJson(text);
  if (!isMap(stored)) return new Map();
  return new Map([...stored].map(([origin, seq]) => [Number(origin), toNumber(seq) ?? 0]));
}

function writePositions(path: string, positions: ReadonlyMap<number, number>): void {
  writeFileAtomic(path, JSON.stringify(Object.fromEntries(positions)), { mode: 0o600, makeDirectory: true });
}
