/**
 * What minions have acknowledged of a job, beside its returns in the job cache: a file each in `.acks`, which Salt's tools
 * pass over.
 * @module
 */

import { readFileIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { MsgpackError, StoreError } from "../errors.ts";
import { isJid, jidDirectory } from "../protocol/jid.ts";
import { isValidId } from "../protocol/minion_id.ts";
import { decode, encode } from "../values/msgpack.ts";
import type { Acknowledged } from "../protocol/outcome.ts";
import { isMap, map, toNumber } from "../values/value.ts";

/** An acknowledgement. */
export interface Ack {
  /** Whether the minion has begun. */
  readonly state: Acknowledged;
  /** When the master heard of it, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** The acknowledgements of one master. */
export class JobAcks {
  readonly #root: string;
  readonly #hashType: string;

  /** Reads and writes beside the job cache in `cachedir`. */
  constructor(cachedir: string, hashType: string) {
    this.#root = `${cachedir}/jobs`;
    this.#hashType = hashType;
  }

  /**
   * Keeps what minion `id` has acknowledged of job `jid`; nothing for a job that is not in the cache.
   * @throws {StoreError} If it cannot be written.
   */
  save(jid: string, id: string, ack: Ack): void {
    if (!isJid(jid) || !isValidId(id)) return;
    const directory = `${this.#root}/${jidDirectory(jid, this.#hashType)}/.acks`;
    try {
      Deno.mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return; // no such job
      if (!(error instanceof Deno.errors.AlreadyExists)) throw storeError(error, directory);
    }
    try {
      writeFileAtomic(`${directory}/${id}`, encode(map({ state: ack.state, since: ack.sinceMs }), "disk"));
    } catch (error) {
      throw storeError(error, directory);
    }
  }

  /** What was acknowledged of a job, by minion. */
  all(jid: string): Map<string, Ack> {
    const acks = new Map<string, Ack>();
    if (!isJid(jid)) return acks;
    const directory = `${this.#root}/${jidDirectory(jid, this.#hashType)}/.acks`;
    try {
      for (const { name } of Deno.readDirSync(directory)) {
        const ack = isValidId(name) ? read(`${directory}/${name}`) : undefined;
        if (ack !== undefined) acks.set(name, ack);
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    return acks;
  }
}

function read(path: string): Ack | undefined {
  try {
    const bytes = readFileIfExists(path);
    const kept = bytes === undefined ? null : decode(bytes, "disk");
    const state = isMap(kept) ? kept.get("state") : undefined;
    if (!isMap(kept) || (state !== "received" && state !== "running")) return undefined;
    return { state, sinceMs: toNumber(kept.get("since")) ?? 0 };
  } catch (error) {
    if (error instanceof MsgpackError) return undefined;
    throw error;
  }
}

function storeError(cause: unknown, path: string): StoreError {
  return new StoreError(`Cannot keep an acknowledgement: ${cause instanceof Error ? cause.message : cause}`, path, {
    cause,
  });
}
