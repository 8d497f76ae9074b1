/**
 * What changes of keys make of the rows of the minions concerned: the rules of a key store (one key counts, a denied
 * one may be beside it) on rows in memory. Knows nothing of the database.
 * @module
 */

import { fingerprint } from "#lib/crypto/pem.ts";
import type { KeyStep } from "#lib/keys/key_bank.ts";
import type { KeyState } from "#lib/keys/store.ts";
import { KEPT, type KeyRow } from "./key_rows.ts";

/** The states of which an id has one; of several the first counts. */
const EXCLUSIVE: readonly KeyState[] = ["rejected", "accepted", "pending"];

/** Marks rows of one change. */
export interface KeyMark {
  readonly generation: number;
  readonly atMs: number;
  readonly by: string;
}

/** The options that rows are made with. */
export interface KeyTableOptions {
  /** The digest of fingerprints. */
  readonly hashType: string;
  /** Whether the data of all minions are kept when their keys are deleted. */
  readonly keepsData: boolean;
}

/** The rows of some minions while they are changed. */
export class KeyTable {
  readonly #options: KeyTableOptions;
  readonly #rows = new Map<string, Map<KeyState, KeyRow>>();
  readonly #changed = new Map<string, Pick<KeyRow, "minion" | "state" | "pem" | "fingerprint">>();

  constructor(rows: readonly KeyRow[], options: KeyTableOptions) {
    this.#options = options;
    for (const row of rows) this.#of(row.minion).set(row.state, row);
  }

  /** Adds a key that only this master's files have, as a change. */
  adopt(id: string, state: KeyState, pem: string): void {
    this.#set(id, state, pem);
  }

  /** Whether there are rows of a minion. */
  knows(id: string): boolean {
    return this.#of(id).size > 0;
  }

  /**
   * Does one change, of a minion with a valid id.
   * @returns Whether there was something to do.
   */
  apply(step: KeyStep): boolean {
    const { id, expected } = step;
    const state = EXCLUSIVE.find((each) => this.#pem(id, each) !== null) ?? "none";
    if (expected !== undefined && state !== expected) return false;
    if ("put" in step && step.over !== undefined && this.#pem(id, step.put) !== step.over) return false;
    if ("put" in step) return this.#put(id, step.put, step.pem);
    if ("from" in step) {
      const pem = this.#pem(id, step.from);
      if (pem === null || (step.pem !== undefined && step.pem !== pem)) return false;
      if (step.from === step.to) return true;
      this.#set(id, step.from, null);
      return this.#put(id, step.to, pem);
    }
    const states = step.delete === "all" ? [...EXCLUSIVE, "denied" as const] : [step.delete];
    const there = states.filter((each) => this.#pem(id, each) !== null);
    for (const each of there) this.#set(id, each, null, step.keepsData === true || this.#options.keepsData);
    return there.length > 0;
  }

  /** The rows that have changed, with the mark of this change. */
  changed(mark: KeyMark): KeyRow[] {
    return [...this.#changed.values()].map((row) => ({ ...row, ...mark }));
  }

  /** Whether a key that was accepted is so no more. */
  get refuses(): boolean {
    return [...this.#changed.values()].some(({ state, pem }) => state === "accepted" && pem === null);
  }

  /** The minions that have lost their last key, and whose data go with it. */
  forgotten(): string[] {
    const rows = [...this.#changed.values()];
    const kept = new Set(rows.filter(({ fingerprint }) => fingerprint === KEPT).map(({ minion }) => minion));
    const without = [...new Set(rows.map(({ minion }) => minion))].filter((id) =>
      [...this.#of(id).values()].every(({ pem }) => pem === null)
    );
    return without.filter((id) => !kept.has(id));
  }

  #put(id: string, state: KeyState, pem: string): boolean {
    if (this.#pem(id, state) !== pem) this.#set(id, state, pem);
    if (state === "denied") return true;
    for (const other of EXCLUSIVE) if (other !== state && this.#pem(id, other) !== null) this.#set(id, other, null);
    return true;
  }

  #set(id: string, state: KeyState, pem: string | null, keepsData = false): void {
    const print = pem === null ? keepsData ? KEPT : null : fingerprint(pem, this.#options.hashType);
    const row = { minion: id, state, pem, fingerprint: print };
    this.#of(id).set(state, { ...row, generation: 0, atMs: 0, by: "" });
    this.#changed.set(`${state}/${id}`, row);
  }

  #pem(id: string, state: KeyState): string | null {
    return this.#of(id).get(state)?.pem ?? null;
  }

  #of(id: string): Map<KeyState, KeyRow> {
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const made = new Map<KeyState, KeyRow>();
    this.#rows.set(id, made);
    return made;
  }
}
