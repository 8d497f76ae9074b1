/**
 * The minions' public keys: one file per id in the directory of its state, as in every Salt. Does not know who may be
 * accepted (rules.ts), events, or operators. Ids come from the network: an invalid one ({@linkcode isValidId}) never
 * reaches the file system. Other entries (directories, links, `.key_cache`, incomplete files) are ignored.
 * Source: Salt's pki directory.
 * @module
 */

import {
  makeDirectorySynced,
  readTextFileIfExists,
  removeIfExists,
  syncDirectory,
  writeFileAtomic,
} from "#lib/os/atomic_file.ts";
import { KeyError } from "#lib/errors.ts";
import { statOrUndefined } from "#lib/os/file_kind.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { compareStrings } from "#lib/values/value.ts";

/**
 * The state of a key. `denied` keys are kept only for the operator to see; an id may have one besides its other key.
 */
export type KeyState = "accepted" | "pending" | "rejected" | "denied";

/** The directory of each state, below the pki directory. */
export const KEY_DIRECTORIES: Readonly<Record<KeyState, string>> = {
  accepted: "minions",
  pending: "minions_pre",
  rejected: "minions_rejected",
  denied: "minions_denied",
};

// An id is in one of these. If a crash left it in two, the stricter one counts, as in Salt.
const EXCLUSIVE = ["rejected", "accepted", "pending"] as const;

/** Time after a change of a directory from which another one has another time, in milliseconds. */
const SETTLED_MS = 2_000;

/** The ids that a directory had. */
interface Listing {
  /** Of the directory, when it was read. */
  readonly time: string;
  readonly ids: readonly string[];
}

/**
 * The keys in one pki directory, which several processes may use: files appear and disappear atomically. Changes
 * survive a power failure: when a call returns, the file and its directory are synced.
 */
export class KeyStore {
  readonly #pkiDir: string;
  readonly #listings = new Map<KeyState, Listing>();

  /** The pki directory may be missing; the first key creates what is needed. */
  constructor(pkiDir: string) {
    this.#pkiDir = pkiDir;
  }

  /**
   * The ids with a key of that state, sorted by code points. The directory is read only if it has changed: each publish
   * asks for its ids, which may be tens of thousands. Until it changes, the result is the same array, which is frozen:
   * what is made of it can be kept with it.
   */
  list(state: KeyState): readonly string[] {
    const before = this.#directoryTime(state), known = this.#listings.get(state);
    if (known !== undefined && known.time === before?.time) return known.ids;
    const ids = Object.freeze(this.#read(state));
    // A directory that has just changed may change again at the same time of its file system.
    if (before !== undefined && Date.now() - before.ms >= SETTLED_MS) {
      this.#listings.set(state, { time: before.time, ids });
    } else this.#listings.delete(state);
    return ids;
  }

  /** Identifies the contents of a directory: they change with its times. */
  #directoryTime(state: KeyState): { readonly time: string; readonly ms: number } | undefined {
    const file = statOrUndefined(this.#directory(state));
    if (file === undefined || file.mtime === null || file.ctime === null) return undefined;
    const [mtime, ctime] = [file.mtime.getTime(), file.ctime.getTime()];
    return { time: `${file.ino}:${mtime}:${ctime}`, ms: Math.max(mtime, ctime) };
  }

  #read(state: KeyState): string[] {
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

  /** Identifies the current key of `id` in that state, for caches. One system call; reading the key takes four. */
  version(id: string, state: KeyState): string | undefined {
    const file = this.#stat(id, state);
    // File times may change only 250 times a second, so the inode identifies a replaced file.
    return file?.isFile ? `${file.ino}:${file.mtime?.getTime()}:${file.size}` : undefined;
  }

  /** The state of the key that counts; denied keys do not. */
  state(id: string): Exclude<KeyState, "denied"> | undefined {
    return EXCLUSIVE.find((state) => this.#has(id, state));
  }

  /**
   * Stores `pem` as the key of `id` in that state, and removes it from the others. A denied key neither replaces
   * another nor is replaced.
   * @throws {KeyError} If `id` is not valid.
   */
  put(id: string, state: KeyState, pem: string): void {
    this.#checkId(id);
    this.#makeDirectory(state);
    writeFileAtomic(this.#path(id, state), pem, { mode: 0o600, sync: true });
    this.#clearOthers(id, state);
  }

  /**
   * Moves the key of `id` from one state to another, and replaces a key there.
   * @returns Whether there was a key to move.
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
    // The new directory is synced before the old one: after a power failure the key may be in both, but never in
    // neither.
    for (const state of [to, from]) syncDirectory(this.#directory(state));
    this.#clearOthers(id, to);
    return true;
  }

  /**
   * Deletes the key of `id` in that state.
   * @returns Whether it existed.
   */
  delete(id: string, state: KeyState): boolean {
    return this.#has(id, state) && removeIfExists(this.#path(id, state), { sync: true });
  }

  /**
   * Deletes every key of `id`.
   * @returns The states that it had keys in.
   */
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
 * Whether the text is a truncated key, as after a power failure if nobody synced it. {@linkcode KeyStore} syncs its
 * keys, but another program may have written this one.
 */
export function isTruncatedKey(pem: string): boolean {
  // Zeros are blocks that were allocated and never written.
  const text = pem.replaceAll("\0", "").trim();
  return "-----BEGIN PUBLIC KEY-----".startsWith(text) || /^-----BEGIN [A-Z ]+-----\n[^-]*-{0,4}$/.test(text);
}
