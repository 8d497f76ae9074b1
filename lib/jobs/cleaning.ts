/**
 * The removal of old jobs from the directories of the file store, in rounds: a round remembers directories without old
 * jobs. So a round in which nothing is old costs one check of each of the cache's 256 directories, however many jobs
 * they have.
 *
 * Adding or removing a job changes the time of its directory. Knows no options and no clock.
 * Source: docs/protocol.md "The job cache".
 * @module
 */

import { changedMs, listDirectory, remove, type StoreLog } from "#lib/os/store_files.ts";
import type { CleaningLimits } from "./store.ts";

/** Minimum age of a job without its `jid` file before it is removed as incomplete, in milliseconds. */
const UNFINISHED_MS = 60_000;
/**
 * Minimum age of a directory's last change, so that the next change gives another time, in milliseconds: file times are
 * coarse.
 */
const SETTLED_MS = 2_000;

/** A directory without anything to remove. */
interface Seen {
  /** Its modification time. */
  readonly changedMs: number;
  /** The time of its oldest job; if it is empty, the time of the last removal. */
  readonly oldestMs: number;
}

/** The rounds over one store. */
export class JobCleaner {
  readonly #root: string;
  readonly #log: StoreLog;
  readonly #seen = new Map<string, Seen>();

  /** @param root The directory with the directories of all jobs. */
  constructor(root: string, log: StoreLog) {
    this.#root = root;
    this.#log = log;
  }

  /**
   * One round, one job at a time, so that the caller can do other work in between. A job's age is that of its `jid`
   * file, since the host's clock may have been wrong when the jid was made. Incomplete jobs are removed too.
   * @returns The number of removed jobs.
   */
  *round({ nowMs, keepSeconds }: CleaningLimits): Generator<void, number> {
    if (keepSeconds <= 0) return 0;
    const oldestMs = nowMs - keepSeconds * 1000;
    let removed = 0;
    for (const { name } of listDirectory(this.#root, this.#log)) {
      const changed = changedMs(`${this.#root}/${name}`);
      const seen = this.#seen.get(name);
      if (seen !== undefined && seen.changedMs === changed && seen.oldestMs >= oldestMs) continue;
      this.#seen.delete(name);
      const { gone, oldest } = yield* this.#cleanDirectory(`${this.#root}/${name}`, { nowMs, oldestMs });
      removed += gone;
      if (gone === 0 && changed !== undefined && changed <= nowMs - SETTLED_MS) {
        this.#seen.set(name, { changedMs: changed, oldestMs: oldest });
      }
    }
    return removed;
  }

  *#cleanDirectory(
    parent: string,
    { nowMs, oldestMs }: { readonly nowMs: number; readonly oldestMs: number },
  ): Generator<void, { gone: number; oldest: number }> {
    const jobs = listDirectory(parent, this.#log);
    let gone = 0, oldest = jobs.length === 0 ? changedMs(parent) ?? nowMs : Infinity;
    for (const { name } of jobs) {
      const directory = `${parent}/${name}`;
      const madeMs = changedMs(`${directory}/jid`);
      const keep = madeMs === undefined
        ? (changedMs(directory) ?? nowMs) >= nowMs - UNFINISHED_MS // it may not be complete yet
        : madeMs >= oldestMs;
      if (keep) oldest = Math.min(oldest, madeMs ?? -Infinity);
      else if (remove(directory, this.#log, { recursive: true })) gone++;
      yield;
    }
    // Not recursive, so that a job which is being created in it is kept.
    if (gone === jobs.length && (gone > 0 || (changedMs(parent) ?? nowMs) < oldestMs)) remove(parent, () => {});
    return { gone, oldest };
  }
}
