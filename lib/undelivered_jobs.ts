/**
 * The jobs that are still to be delivered, in files `<cachedir>/undelivered/<jid>`: a master that was killed goes on where the
 * last one stopped. Written by the MWorker that took the job, before the operator hears of that; removed by the Publisher when
 * all its minions gave a sign of it, or its time is over.
 *
 * Each is sealed under a key made from the master's private key: the arguments of a job that waits for days are in no backup of
 * the cache, and those of a `no_log` job nowhere in it. A master with another private key cannot deliver them.
 * @module
 */

import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { Crypticle } from "./crypticle.ts";
import { AuthenticationError, MsgpackError, StoreError } from "./errors.ts";
import { isJid } from "./jid.ts";
import { decode, encode } from "./msgpack.ts";
import type { Delivery } from "./redelivery.ts";
import { isMap, map, str, toNumber } from "./value.ts";

const utf8 = new TextEncoder();
const PURPOSE = utf8.encode("salt undelivered jobs");
const KEY_BYTES = 56;

/** How long after a job went out it may be kept, in milliseconds; what comes later stays for the next master to remove. */
const LATE_MS = 1_000;

/** The files of one master. */
export class UndeliveredJobs {
  readonly #directory: string;
  /** Jobs that were to be forgotten and were not there, and since when. */
  readonly #late = new Map<string, number>();
  readonly #crypticle: Crypticle;

  /** Makes the directory if it is not there. @param masterPem The master's private key. */
  constructor(cachedir: string, masterPem: string) {
    this.#directory = `${cachedir}/undelivered`;
    this.#crypticle = new Crypticle(
      hkdf(sha256, utf8.encode(masterPem.trim()), undefined, PURPOSE, KEY_BYTES).toBase64(),
    );
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** Keeps a job. @throws {StoreError} If it cannot be written. */
  save({ jid, load, minions, ttlMs, live }: Delivery, nowMs: number): void {
    const kept = map({ load, minions: [...minions], ttl_ms: ttlMs, until: nowMs + ttlMs, live });
    const sealed = this.#crypticle.encrypt(encode(kept, "disk"));
    try {
      writeFileAtomic(`${this.#directory}/${jid}`, sealed, { mode: 0o600, makeDirectory: true });
    } catch (error) {
      throw new StoreError(
        `Cannot keep job ${jid} until it is delivered: ${error instanceof Error ? error.message : error}`,
        this.#directory,
        { cause: error },
      );
    }
  }

  /**
   * Forgets a job; twice is fine. One that is not there may still come, as it is kept while it is under way: it is forgotten
   * later, by {@linkcode removeLate}. @param nowMs Milliseconds of the caller's clock.
   */
  remove(jid: string, nowMs: number): void {
    if (isJid(jid) && !removeIfExists(`${this.#directory}/${jid}`)) this.#late.set(jid, nowMs);
  }

  /** Whether {@linkcode removeLate} will have something to do. */
  get expectsLate(): boolean {
    return this.#late.size > 0;
  }

  /** Forgets the jobs that were to be forgotten {@linkcode LATE_MS} ago or longer, and were not there. */
  removeLate(nowMs: number): void {
    for (const [jid, sinceMs] of this.#late) {
      if (nowMs - sinceMs < LATE_MS) return; // those after it were later still
      this.#late.delete(jid);
      removeIfExists(`${this.#directory}/${jid}`);
    }
  }

  /** The jobs that a master before this one left, with the time that they still have. Those without any are removed. */
  left(nowMs: number): Delivery[] {
    const names = [...Deno.readDirSync(this.#directory)].map(({ name }) => name).filter(isJid);
    return names.flatMap((jid) => {
      const delivery = this.#read(jid, nowMs);
      if (delivery !== undefined && delivery.ttlMs > 0) return [delivery];
      removeIfExists(`${this.#directory}/${jid}`);
      return [];
    });
  }

  #read(jid: string, nowMs: number): Delivery | undefined {
    try {
      const bytes = readFileIfExists(`${this.#directory}/${jid}`);
      const kept = bytes === undefined ? undefined : decode(this.#crypticle.decrypt(bytes), "disk");
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
      // Cut off while it was written, or of a master with another key.
      if (error instanceof AuthenticationError || error instanceof MsgpackError) return undefined;
      throw error;
    }
  }
}
