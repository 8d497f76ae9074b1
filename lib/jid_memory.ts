/**
 * The last job ids that a minion took, in a file as well: a publish that comes again, also to a minion that was started
 * anew, is not run again.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "./atomic_file.ts";
import type { Logger } from "./log.ts";

/** The memory. */
export class JidMemory {
  readonly #limit: number;
  readonly #path: string | undefined;
  readonly #log: Logger;
  readonly #jids: Set<string>;
  #lines = 0;

  /** Remembers `limit` ids; reads what an earlier process remembered in `path`. */
  constructor(options: { readonly limit: number; readonly path?: string; readonly log: Logger }) {
    this.#limit = options.limit;
    this.#path = options.path;
    this.#log = options.log;
    const known = options.path === undefined ? undefined : readTextFileIfExists(options.path);
    this.#jids = new Set(known?.split("\n").filter((line) => line !== "").slice(-options.limit));
    this.#lines = this.#limit; // so that the first new one rewrites the file
  }

  /** Whether `jid` is one of them. */
  has(jid: string): boolean {
    return this.#jids.has(jid);
  }

  /** Remembers `jid`, if it is new. */
  add(jid: string): void {
    if (this.#jids.has(jid)) return;
    this.#jids.add(jid);
    for (const oldest of this.#jids) {
      if (this.#jids.size <= this.#limit) break;
      this.#jids.delete(oldest);
    }
    if (this.#path !== undefined) this.#write(this.#path, jid);
  }

  #write(path: string, jid: string): void {
    try {
      if (this.#lines >= this.#limit) {
        writeFileAtomic(path, `${[...this.#jids].join("\n")}\n`, { mode: 0o600 });
        this.#lines = 0;
      } else {
        Deno.writeTextFileSync(path, `${jid}\n`, { append: true, mode: 0o600 });
        this.#lines++;
      }
    } catch (error) {
      // Better a job twice after a restart than none on a full disk.
      this.#log.error(
        `Job id ${jid} is remembered until this minion ends: ${error instanceof Error ? error.message : error}`,
      );
    }
  }
}
