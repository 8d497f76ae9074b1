/**
 * Changes of minions' keys. On one machine they are changes of files; in a cluster they are made in the database, and
 * each master's files follow. Reading is {@linkcode KeyStore}'s in both.
 * @module
 */

import type { KeyState, KeyStore } from "./store.ts";

/** One change of a key. */
export type KeyStep =
  & {
    readonly id: string;
    /**
     * The state of the key that counts, on which the change was decided: if it is another one now, nothing is done.
     * Default: any.
     */
    readonly expected?: Exclude<KeyState, "denied"> | "none";
  }
  & ({
    /** Stores `pem` in that state; a key of another state goes, unless one of both is denied. */
    readonly put: KeyState;
    readonly pem: string;
    /** The key of that state that it replaces: if there is another one now, nothing is done. Default: any, or none. */
    readonly over?: string;
  } | {
    /** Moves the key of one state to another. */
    readonly from: KeyState;
    readonly to: KeyState;
    /** The key that is moved; another one stays where it is. Default: any. */
    readonly pem?: string;
  } | {
    /** Deletes the key of that state; `"all"`: of every state. */
    readonly delete: KeyState | "all";
    /** Whether the minion's data are kept, if this was its last key. */
    readonly keepsData?: boolean;
  });

/** Makes changes of keys. */
export interface KeyBank {
  /**
   * Brings the files up to date before something is decided by them.
   * @throws As {@linkcode change}.
   */
  refresh(): Promise<void>;
  /**
   * Makes the changes, in their order. When it resolves, they hold wherever minions sign in.
   * @returns For each whether there was something to do.
   * @throws What the keys are kept by throws, if nothing can be changed now.
   * @throws {KeyError} If an id is not valid.
   */
  change(steps: readonly KeyStep[]): Promise<boolean[]>;
}

/** The bank of a master that stands alone: its files are the keys. */
export function fileKeyBank(store: KeyStore): KeyBank {
  return {
    refresh: () => Promise.resolve(),
    change: (steps) => Promise.try(() => steps.map((step) => changeFile(store, step))),
  };
}

function changeFile(store: KeyStore, step: KeyStep): boolean {
  const { id, expected } = step;
  if (expected !== undefined && (store.state(id) ?? "none") !== expected) return false;
  if ("put" in step) {
    if (step.over !== undefined && store.get(id, step.put) !== step.over) return false;
    store.put(id, step.put, step.pem);
    return true;
  }
  if ("from" in step) {
    if (step.pem !== undefined && store.get(id, step.from) !== step.pem) return false;
    return store.move(id, step.from, step.to);
  }
  return step.delete === "all" ? store.remove(id).length > 0 : store.delete(id, step.delete);
}
