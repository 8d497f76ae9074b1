/**
 * What a disk that loses power keeps. The model is stricter than most file systems. The contents of a file survive only
 * by a sync of the file, its name only by a sync of its directory. Of the changes to names in a directory since its
 * last sync, any number from the beginning may be there, and each directory has its own number. Data written to a file
 * since its last sync is there, missing, or truncated anywhere. One guarantee: after a rename between two directories,
 * the file is in at least one of them.
 * @module
 */

import { sameBytes } from "#lib/crypto/same_bytes.ts";

/** The choices that a disk makes at a power failure. */
export interface Choices {
  /** An integer from 0 up to, but not including, another. */
  int(below: number): number;
  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean;
}

/** A disk that keeps only synced data. */
export const ONLY_SYNCED: Choices = { int: () => 0, chance: () => true };

/** A disk that keeps all names, and only the synced contents of files. */
export const ALL_NAMES: Choices = { int: (below) => below === OUTCOMES ? 1 : 0, chance: () => true };

/** The possible fates of changes to a directory: none, all, or some of them are kept. */
const OUTCOMES = 3;

/** What a directory may have: files, of whatever form, and directories, with whatever is known of them. */
export type DiskEntry<File, Info> = File | DiskDirectory<File, Info>;

/** A change of a name in a directory. */
interface Change<File, Info> {
  readonly name: string;
  /** The entry of the name after the change; `undefined` if the name is removed. */
  readonly node: DiskEntry<File, Info> | undefined;
  /** For a rename within the directory: the old name. */
  readonly gone?: string;
  /** For a name that is renamed to another directory: the change there, without which the name stays here. */
  readonly arrival?: { readonly directory: DiskDirectory<File, Info>; readonly change: Change<File, Info> };
}

/** A directory. */
export class DiskDirectory<File, Info> {
  readonly kind = "directory";
  readonly info: Info;
  #names = new Map<string, DiskEntry<File, Info>>();
  #synced = new Map<string, DiskEntry<File, Info>>();
  /** The changes since the last sync. */
  #changes: Change<File, Info>[] = [];

  /** Makes an empty one. */
  constructor(info: Info) {
    this.info = info;
  }

  /** Its current entries. */
  get names(): ReadonlyMap<string, DiskEntry<File, Info>> {
    return this.#names;
  }

  /** Gives an entry a name here. */
  put(name: string, node: DiskEntry<File, Info>): void {
    this.#change({ name, node });
  }

  /** Removes a name. */
  drop(name: string): void {
    this.#change({ name, node: undefined });
  }

  /** Gives the entry `old` the name `name` of a directory, this one or another. */
  move(old: string, to: DiskDirectory<File, Info>, name: string): void {
    const node = this.#names.get(old);
    if (node === undefined) throw new Error(`There is no ${old}`);
    if (to === this) return this.#change({ name, node, gone: old });
    const arrival: Change<File, Info> = { name, node };
    to.#change(arrival);
    this.#change({ name: old, node: undefined, arrival: { directory: to, change: arrival } });
  }

  #change(change: Change<File, Info>): void {
    apply(this.#names, [change]);
    this.#changes.push(change);
  }

  /** Its present names are on the disk. */
  sync(): void {
    this.beginSync()();
  }

  /**
   * Begins a sync of the present names.
   * @returns Ends it: they are on the disk, whatever has been changed meanwhile.
   */
  beginSync(): () => void {
    const last = this.#changes.at(-1);
    return () => {
      // Another sync may have ended before.
      const at = last === undefined ? -1 : this.#changes.indexOf(last);
      const synced = this.#changes.splice(0, at + 1);
      // A file that was renamed to another directory is there, whatever happens to the other changes of that directory.
      for (const { arrival } of synced) {
        const there = arrival === undefined ? -1 : arrival.directory.#changes.indexOf(arrival.change);
        if (arrival !== undefined && there >= 0) {
          apply(arrival.directory.#synced, arrival.directory.#changes.splice(0, there + 1));
        }
      }
      apply(this.#synced, synced);
    };
  }

  /** Gives it other entries, which are on the disk. */
  reset(names: ReadonlyMap<string, DiskEntry<File, Info>>): void {
    this.#names = new Map(names);
    this.#synced = new Map(names);
    this.#changes = [];
  }

  /** Each directory that a disk could have below this one, and this one. */
  get all(): DiskDirectory<File, Info>[] {
    const found = new Set<DiskDirectory<File, Info>>([this]);
    for (const directory of found) {
      const changed = directory.#changes.map(({ node }) => node);
      for (const node of [...directory.names.values(), ...directory.#synced.values(), ...changed]) {
        if (node instanceof DiskDirectory) found.add(node);
      }
    }
    return [...found];
  }

  /** For each of several directories, the entries that a disk could have kept. */
  static chosenNames<File, Info>(
    all: readonly DiskDirectory<File, Info>[],
    random: Choices,
  ): Map<DiskDirectory<File, Info>, Map<string, DiskEntry<File, Info>>> {
    const counts = new Map(all.map((directory) => {
      const { length } = directory.#changes;
      const kind = random.int(OUTCOMES);
      return [directory, kind === 0 ? 0 : kind === 1 ? length : random.int(length + 1)];
    }));
    return new Map(all.map((directory) => {
      const names = new Map(directory.#synced);
      const changes = directory.#changes.slice(0, counts.get(directory)).filter(({ arrival }) => {
        if (arrival === undefined) return true;
        const at = arrival.directory.#changes.indexOf(arrival.change);
        return at < 0 || at < (counts.get(arrival.directory) ?? 0);
      });
      apply(names, changes);
      return [directory, names];
    }));
  }
}

function apply<File, Info>(names: Map<string, DiskEntry<File, Info>>, changes: readonly Change<File, Info>[]): void {
  for (const { name, node, gone } of changes) {
    if (gone !== undefined) names.delete(gone);
    if (node === undefined) names.delete(name);
    else names.set(name, node);
  }
}

/**
 * The bytes of a file that a disk could have kept.
 * @param now What was written.
 * @param synced What was synced last; `undefined` if nothing was.
 */
export function keptBytes<Bytes extends Uint8Array>(
  now: Bytes,
  synced: Bytes | undefined,
  random: Choices,
): Uint8Array {
  if (synced !== undefined && sameBytes(synced, now)) return now;
  const kind = random.int(10);
  if (kind < 5) return synced ?? new Uint8Array();
  if (kind > 7) return now;
  // Data that was appended to synced data is kept in part.
  const min = synced !== undefined && sameBytes(synced, now.subarray(0, synced.length)) ? synced.length : 0;
  if (synced !== undefined && min === 0 && synced.length > 0) return random.chance(0.5) ? synced : now;
  return now.slice(0, min + random.int(now.length - min + 1));
}
