/**
 * The jobs that are still to be delivered, in `<cachedir>/undelivered`: a master that was killed goes on where the last one
 * stopped. Written by the MWorker that took the job, before the operator hears of that; forgotten by the Publisher when all its
 * minions gave a sign of it, or its time is over.
 *
 * Most are over in a moment, and records of a log (undelivered_log.ts). A job that may wait for longer than a minute, or is
 * `no_log`, has a file `<jid>`, which is removed when it is over.
 *
 * Each is sealed under a key made from the master's private key: the arguments of a job that waits for days are in no backup of
 * the cache, and those of a `no_log` job nowhere in it. A master with another private key cannot deliver them.
 * @module
 */

import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { Crypticle } from "../crypto/crypticle.ts";
import { AuthenticationError, MsgpackError } from "../errors.ts";
import { isJid } from "../protocol/jid.ts";
import { decode, encode } from "../values/msgpack.ts";
import type { RecordTaker } from "../os/journal.ts";
import { storing } from "../os/store_files.ts";
import { masterRecord } from "./journal_record.ts";
import { isNoLog } from "../protocol/no_log.ts";
import type { Delivery } from "./redelivery.ts";
import { LONGEST_MS, UndeliveredLog } from "./undelivered_log.ts";
import { isMap, map, str, toNumber } from "../values/value.ts";

const utf8 = new TextEncoder();
const PURPOSE = utf8.encode("salt undelivered jobs");
const KEY_BYTES = 56;

/** How long after a job went out it may be kept, in milliseconds; what comes later stays for the next master to remove. */
const LATE_MS = 1_000;

/** Those of one master, as one of its threads keeps or forgets them. Times are milliseconds since the epoch. */
export class UndeliveredJobs {
  readonly #directory: string;
  readonly #log: UndeliveredLog;
  /** Jobs that an earlier master left in files. */
  readonly #filed = new Set<string>();
  /** Those of them that are in the log as well: a journal has restored them. */
  readonly #twice = new Set<string>();
  /** Jobs whose files were to be removed and were not there, and since when. */
  readonly #late = new Map<string, number>();
  readonly #crypticle: Crypticle;
  /** Jobs that the log says are over, for {@linkcode restore}. */
  #over: Set<string> | undefined;
  readonly #journal: RecordTaker | undefined;

  /**
   * Makes the directory if it is not there.
   * @param masterPem The master's private key.
   * @param journal Told what is kept, when it is, but for `no_log` jobs: the files of those are synced, under a journal.
   */
  constructor(cachedir: string, masterPem: string, journal?: RecordTaker) {
    this.#journal = journal;
    this.#directory = `${cachedir}/undelivered`;
    this.#log = new UndeliveredLog(this.#directory);
    this.#crypticle = new Crypticle(
      hkdf(sha256, utf8.encode(masterPem.trim()), undefined, PURPOSE, KEY_BYTES).toBase64(),
    );
    this.#makeDirectory();
  }

  #makeDirectory(): void {
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** Keeps a job. @throws {StoreError} If it cannot be written. */
  save(delivery: Delivery, nowMs: number): void {
    const { jid, load, minions, ttlMs, live } = delivery;
    const untilMs = nowMs + ttlMs;
    const kept = map({ load, minions: [...minions], ttl_ms: ttlMs, until: untilMs, live });
    const sealed = this.#crypticle.encrypt(encode(kept, "disk"));
    // Its arguments are nowhere but in its file, sealed as they are.
    const hidden = isNoLog(load);
    const write = () => {
      if (isBrief(delivery)) this.#log.add({ jid, sealed }, untilMs, nowMs);
      else {writeFileAtomic(`${this.#directory}/${jid}`, sealed, {
          mode: 0o600,
          sync: hidden && this.#journal !== undefined,
        });}
      if (!hidden) this.#journal?.append(masterRecord("undelivered", { jid, until: untilMs, sealed }));
    };
    storing(`keep job ${jid} until it is delivered`, this.#directory, () => this.#inDirectory(write));
  }

  /**
   * Keeps a job again that a journal tells of, as {@linkcode save} sealed it. @param times.untilMs When its time is over.
   * @throws {StoreError} If it cannot be written.
   */
  restore(
    jid: string,
    sealed: Uint8Array,
    { untilMs, nowMs }: { readonly untilMs: number; readonly nowMs: number },
  ): void {
    this.#over ??= this.#log.over();
    if (!isJid(jid) || untilMs <= nowMs || this.#over.has(jid)) return;
    const path = `${this.#directory}/${jid}`;
    if (readFileIfExists(path)?.length !== sealed.length) {
      writeFileAtomic(path, sealed, { mode: 0o600, makeDirectory: true });
    }
  }

  /** Runs `write`, and again with the directory made if it was not there. */
  #inDirectory(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      this.#makeDirectory();
      write();
    }
  }

  /**
   * Forgets a job that was given to {@linkcode save}, by whichever thread, or found by {@linkcode left}; twice is fine. A file that is
   * not there may still come, as it is written while the job is under way: it is removed by {@linkcode removeLate}.
   */
  remove(delivery: Delivery, nowMs: number): void {
    const { jid } = delivery;
    if (!isJid(jid)) return;
    const filed = this.#filed.delete(jid);
    if (this.#twice.delete(jid) || !filed && isBrief(delivery)) this.#inDirectory(() => this.#log.done(jid, nowMs));
    if (!filed && isBrief(delivery)) return;
    if (!removeIfExists(`${this.#directory}/${jid}`)) this.#late.set(jid, nowMs);
  }

  /** Whether {@linkcode removeLate} will have something to do. */
  get expectsLate(): boolean {
    return this.#late.size > 0;
  }

  /** Removes the files that were to be removed {@linkcode LATE_MS} ago or longer, and were not there. */
  removeLate(nowMs: number): void {
    for (const [jid, sinceMs] of this.#late) {
      if (nowMs - sinceMs < LATE_MS) return; // those after it were later still
      this.#late.delete(jid);
      removeIfExists(`${this.#directory}/${jid}`);
    }
  }

  /** Removes what of the log is over. @returns Whether there is something left for a later time. */
  sweepLog(nowMs: number): boolean {
    return this.#log.sweep(nowMs);
  }

  /**
   * The jobs that a master before this one left, with the time that they still have. Files of those without any are removed.
   * @param complain Hears of jobs whose files a power failure has cut.
   */
  left(nowMs: number, complain: (text: string) => void = () => {}): Delivery[] {
    const logged = this.#log.left(nowMs).flatMap(({ jid, sealed }) => this.#open(jid, sealed, nowMs) ?? []);
    const names = [...Deno.readDirSync(this.#directory)].map(({ name }) => name).filter(isJid);
    const filed = names.flatMap((jid) => {
      const bytes = readFileIfExists(`${this.#directory}/${jid}`);
      const delivery = bytes === undefined ? undefined : this.#open(jid, bytes, nowMs);
      if (bytes?.length === 0) complain(`Job ${jid} is not delivered to whoever has missed it: its file is empty`);
      if (delivery !== undefined && delivery.ttlMs > 0) {
        this.#filed.add(jid);
        return [delivery];
      }
      removeIfExists(`${this.#directory}/${jid}`);
      return [];
    });
    const known = new Set(filed.map(({ jid }) => jid));
    for (const { jid } of logged) if (known.has(jid)) this.#twice.add(jid);
    return [...logged.filter(({ jid, ttlMs }) => ttlMs > 0 && !known.has(jid)), ...filed];
  }

  #open(jid: string, sealed: Uint8Array, nowMs: number): Delivery | undefined {
    try {
      const kept = decode(this.#crypticle.decrypt(sealed), "disk");
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

/** Whether a job is one for the log: what is in it stays for minutes, be the job over or not. */
function isBrief({ load, ttlMs }: Delivery): boolean {
  return ttlMs <= LONGEST_MS && !isNoLog(load);
}
