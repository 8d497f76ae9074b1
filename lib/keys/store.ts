/**
 * The minions' public keys: a file named by the id in the directory of its state, as every Salt keeps them.
 *
 * Knows nothing of who may be accepted (rules.ts), of events or of what operators type. Ids come off the wire: one
 * that is not {@linkcode isValidId} never reaches the file system. Entries that are no plain files under such a name
 * (directories, links, `.key_cache`, half-written files) are not there. Source: Salt's pki directory.
 * @module
 */

import {
  makeDirectorySynced,
  readTextFileIfExists,
  removeIfExists,
  syncDirectory,
  writeFileAtomic,
} from "../os/atomic_file.ts";
import { KeyError } from "../errors.ts";
import { isValidId } from "../protocol/minion_id.ts";
import { compareStrings } from "../values/value.ts";

/** Where a key stands. `denied` keys are only kept for the operator to see; an id may have one beside its other key. */
export type KeyState = "accepted" | "pending" | "rejected" | "denied";

/** The directory of each state, below the pki directory. */
export const KEY_DIRECTORIES: Readonly<Record<KeyState, string>> = {
  accepted: "minions",
  pending: "minions_pre",
  rejected: "minions_rejected",
  denied: "minions_denied",
};

// An id is in one of these. Should a crash have left it in two, the harsher one counts, as in Salt.
const EXCLUSIVE = ["rejected", "accepted", "pending"] as const;

/**
 * The keys in one pki directory. Several processes may use the same one: every file appears and goes whole. What was put, moved or
 * deleted stays so after a power failure: an operator's yes or no is on the disk, with its directory, when the call returns.
 */
export class KeyStore {
  readonly #pkiDir: string;

  /** Takes the pki directory, which need not be there: the first key makes what is missing. */
  constructor(pkiDir: string) {
    this.#pkiDir = pkiDir;
  }

  /** The ids with a key of that state, sorted by code points. */
  list(state: KeyState): string[] {
    const ids: string[] = [];
    try {
      for (const { name, isFile } of Deno.readDirSync(this.#directory(state))) {
        if (isFile && isValidId(name)) ids.push(name);
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    return ids.sort(compareStrings);
  }

  /** The PEM of the key of `id` in that state, as it was put. */
  get(id: string, state: KeyState): string | undefined {
    return this.#has(id, state) ? readTextFileIfExists(this.#path(id, state)) : undefined;
  }

  /**
   * What tells the key of `id` in that state from any other that was or will be there, for whoever keeps what it was made
   * into: one call to the system, where reading it takes four.
   */
  version(id: string, state: KeyState): string | undefined {
    const file = this.#stat(id, state);
    // The clock of the time may tick 250 times a second only: a file that took another's place is told by its inode.
    return file?.isFile ? `${file.ino}:${file.mtime?.getTime()}:${file.size}` : undefined;
  }

  /** The state that counts: that of the key to compare with; a denied key counts for nothing. */
  state(id: string): Exclude<KeyState, "denied"> | undefined {
    return EXCLUSIVE.find((state) => this.#has(id, state));
  }

  /**
   * Keeps `pem` as the key of `id` in that state, and in no other one; but a denied key neither replaces nor is replaced.
   * @throws {KeyError} If `id` cannot be a minion's.
   */
  put(id: string, state: KeyState, pem: string): void {
    this.#checkId(id);
    this.#makeDirectory(state);
    writeFileAtomic(this.#path(id, state), pem, { mode: 0o600, sync: true });
    this.#clearOthers(id, state);
  }

  /**
   * Moves the key of `id` from one state to another, over a key that is there.
   * @returns Whether there was one to move.
   */
  move(id: string, from: KeyState, to: KeyState): boolean {
    if (!this.#has(id, from)) return false;
    if (from === to) return true;
    this.#makeDirectory(to);
    try {
      Deno.renameSync(this.#path(id, from), this.#path(id, to));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
    // Where it is before where it was: it may be in both after a power failure, and is never in neither.
    for (const state of [to, from]) syncDirectory(this.#directory(state));
    this.#clearOthers(id, to);
    return true;
  }

  /** Deletes the key of `id` in that state. @returns Whether there was one. */
  delete(id: string, state: KeyState): boolean {
    return this.#has(id, state) && removeIfExists(this.#path(id, state), { sync: true });
  }

  /** Deletes every key of `id`. @returns The states that it had one in. */
  remove(id: string): KeyState[] {
    return [...EXCLUSIVE, "denied" as const].filter((state) => this.delete(id, state));
  }

  #path(id: string, state: KeyState): string {
    return `${this.#directory(state)}/${id}`;
  }

  #directory(state: KeyState): string {
    return `${this.#pkiDir}/${KEY_DIRECTORIES[state]}`;
  }

  #has(id: string, state: KeyState): boolean {
    return this.#stat(id, state)?.isFile ?? false;
  }

  #stat(id: string, state: KeyState): Deno.FileInfo | undefined {
    if (!isValidId(id)) return undefined;
    try {
      return Deno.lstatSync(this.#path(id, state));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  #clearOthers(id: string, state: KeyState): void {
    if (state === "denied") return;
    for (const other of EXCLUSIVE) if (other !== state) this.delete(id, other);
  }

  #makeDirectory(state: KeyState): void {
    makeDirectorySynced(this.#directory(state));
  }

  #checkId(id: string): void {
    if (!isValidId(id)) throw new KeyError(`${JSON.stringify(id.slice(0, 64))} cannot be the id of a minion`);
  }
}

/**
 * Whether the text of a key's file is no more than the beginning of one, as a power failure leaves what nobody has synced. A key that
 * was put by {@linkcode KeyStore} is never cut, but another program may have put it.
 */
export function isCutKey(pem: string): boolean {
  // Zeros are blocks that were given to the file and never written.
  const text = pem.replaceAll("\0", "").trim();
  return "-----BEGIN PUBLIC KEY-----".startsWith(text) || /^-----BEGIN [A-Z ]+-----\n[^-]*-{0,4}$/.test(text);
}
