/**
 * The jobs that are still to be delivered, in files `<cachedir>/undelivered/<jid>`: a master that was killed goes on where the
 * last one stopped. Written before the operator hears that a job was taken, removed when all its minions gave a sign of it, or
 * its time is over.
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError, StoreError } from "./errors.ts";
import { isJid } from "./jid.ts";
import { decode, encode } from "./msgpack.ts";
import type { Delivery } from "./redelivery.ts";
import { isMap, map, str, toNumber } from "./value.ts";

/** The files of one master. */
export class UndeliveredJobs {
  readonly #directory: string;

  /** Makes the directory if it is not there. */
  constructor(cachedir: string) {
    this.#directory = `${cachedir}/undelivered`;
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** Keeps a job. @throws {StoreError} If it cannot be written. */
  save({ jid, load, minions, ttlMs, live }: Delivery, nowMs: number): void {
    const kept = map({ load, minions: [...minions], ttl_ms: ttlMs, until: nowMs + ttlMs, live });
    try {
      writeFileAtomic(`${this.#directory}/${jid}`, encode(kept, "disk"), { mode: 0o600, makeDirectory: true });
    } catch (error) {
      throw new StoreError(
        `Cannot keep job ${jid} until it is delivered: ${error instanceof Error ? error.message : error}`,
        this.#directory,
        { cause: error },
      );
    }
  }

  /** Forgets a job; twice is fine. */
  remove(jid: string): void {
    if (isJid(jid)) removeIfExists(`${this.#directory}/${jid}`);
  }

  /** The jobs that a master before this one left, with the time that they still have. Those without any are removed. */
  left(nowMs: number): Delivery[] {
    const names = [...Deno.readDirSync(this.#directory)].map(({ name }) => name).filter(isJid);
    return names.flatMap((jid) => {
      const delivery = this.#read(jid, nowMs);
      if (delivery !== undefined && delivery.ttlMs > 0) return [delivery];
      this.remove(jid);
      return [];
    });
  }

  #read(jid: string, nowMs: number): Delivery | undefined {
    try {
      const bytes = readFileIfExists(`${this.#directory}/${jid}`);
      const kept = bytes === undefined ? undefined : decode(bytes, "disk");
      const load = isMap(kept) ? kept.get("load") : undefined;
      if (!isMap(kept) || !isMap(load)) return undefined;
      const minions = kept.get("minions");
      const ttlMs = toNumber(kept.get("ttl_ms")) ?? 0;
      const leftMs = (toNumber(kept.get("until")) ?? 0) - nowMs;
      // A clock that was set back gives no job more time than it had.
      return {
        jid,
        load,
        minions: Array.isArray(minions) ? minions.map(str) : [],
        ttlMs: Math.min(leftMs, ttlMs),
        live: kept.get("live") === true,
      };
    } catch (error) {
      if (error instanceof MsgpackError) return undefined; // cut off while it was written
      throw error;
    }
  }
}
