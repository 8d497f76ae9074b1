/**
 * Jobs that are still to be delivered, in `<cachedir>/undelivered`, so that a restarted master continues where a killed
 * one stopped. Written by the MWorker that accepted the job, before it is sent; removed by the Publisher when all
 * minions have acknowledged it, or its time is over.
 *
 * Most jobs end within a moment, and are records of a log (undelivered_log.ts). A job that may wait for more than a
 * minute, or is `no_log`, has a file `<jid>`, which is removed at its end. Each is encrypted with a key made from the
 * master's private key, so that the arguments of waiting jobs are not readable in backups of the cache, and those of a
 * `no_log` job nowhere in it. A master with another private key cannot deliver them.
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { Crypticle } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, MsgpackError } from "#lib/errors.ts";
import { undeliveredKey } from "#lib/keys/undelivered_key.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import type { RecordTaker } from "#lib/os/journal.ts";
import { deadlineFields, type Moment, momentAfter, msBetween, readDeadline } from "#lib/os/moment.ts";
import { storing } from "#lib/os/store_files.ts";
import { masterRecord } from "./journal_record.ts";
import { isNoLog } from "#lib/protocol/no_log.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import type { Delivery } from "./redelivery.ts";
import { LONGEST_MS, UndeliveredLog } from "./undelivered_log.ts";
import { isMap, map, str, toNumber, type Value } from "#lib/values/value.ts";

/** The jobs that an earlier master had not delivered to all minions. */
export interface LeftJobs {
  /** Jobs with their remaining time. */
  readonly deliveries: readonly Delivery[];
  /** Jobs whose time has ended. Their records are removed. */
  readonly expired: readonly Delivery[];
}

/**
 * The undelivered jobs of one master, for one of its threads. The time of a job is counted by the clock of the boot, so
 * that it does not end when the wall clock jumps.
 */
export class UndeliveredJobs {
  readonly #directory: string;
  readonly #log: UndeliveredLog;
  /** Jobs that an earlier master left in files. */
  readonly #filed = new Set<string>();
  /** Those of them that are in the log as well, because a journal has restored them. */
  readonly #twice = new Set<string>();
  readonly #crypticle: Crypticle;
  /** Jobs that are over according to the log, for {@linkcode restore}. */
  #over: Set<string> | undefined;
  readonly #journal: RecordTaker | undefined;

  /**
   * Makes the directory if it does not exist.
   * @param masterPem The master's private key, or what an earlier one has left ({@linkcode undeliveredKey}).
   * @param journal Gets a record of each job, except `no_log` jobs: with a journal their files are synced instead.
   */
  constructor(cachedir: string, masterPem: string, journal?: RecordTaker) {
    this.#journal = journal;
    this.#directory = `${cachedir}/undelivered`;
    this.#log = new UndeliveredLog(this.#directory);
    this.#crypticle = new Crypticle(undeliveredKey(masterPem));
    this.#makeDirectory();
  }

  #makeDirectory(): void {
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /**
   * Stores a job.
   * @throws {StoreError} If it cannot be written.
   */
  save(delivery: Delivery, now: Moment): void {
    const { jid, load, minions, ttlMs, live, sent, cancelled } = delivery;
    const until = deadlineFields(momentAfter(now, ttlMs));
    const stored = map({
      load,
      minions: [...minions],
      ttl_ms: ttlMs,
      live,
      ...until,
      ...sent !== undefined && { sent: [...sent] },
      ...cancelled !== undefined && { cancelled: [...cancelled] },
    });
    const sealed = this.#crypticle.encrypt(encode(stored, "disk"));
    // Its arguments are only in its encrypted file.
    const hidden = isNoLog(load);
    const write = () => {
      if (isBrief(delivery)) this.#log.add({ jid, sealed }, now);
      else {writeFileAtomic(`${this.#directory}/${jid}`, sealed, {
          mode: 0o600,
          // Who was told that a job is cancelled must not see it run after a power failure.
          sync: (hidden && this.#journal !== undefined) || cancelled !== undefined,
        });}
      if (!hidden) this.#journal?.append(masterRecord("undelivered", { jid, sealed, ...until }));
    };
    storing(`keep job ${jid} until it is delivered`, this.#directory, () => this.#inDirectory(write));
  }

  /**
   * Stores a job again from the record of a journal that {@linkcode save} has made, unless its time is over.
   * @returns Whether `record` is one of those.
   * @throws {StoreError} If it cannot be written.
   */
  restore(record: Value, now: Moment): boolean {
    if (!isMap(record) || record.get("kind") !== "undelivered") return false;
    const sealed = asBytes(record.get("sealed"));
    if (sealed === undefined) return false;
    const jid = str(record.get("jid") ?? null);
    if (msBetween(now, readDeadline(record)) > 0) this.#restore(jid, sealed, now);
    return true;
  }

  #restore(jid: string, sealed: Uint8Array, now: Moment): void {
    this.#over ??= this.#log.over();
    if (!isJid(jid) || this.#over.has(jid)) return;
    const path = `${this.#directory}/${jid}`, found = readFileIfExists(path);
    // A whole file stays, as it may be newer. One that a power failure has spoilt may have its length all the same.
    if (found !== undefined && this.#open(jid, found, now) !== undefined) return;
    writeFileAtomic(path, sealed, { mode: 0o600, makeDirectory: true });
  }

  /** Runs `write`; if the directory is missing, makes it and runs `write` again. */
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
   * Removes a job that any thread has given to {@linkcode save}, or that {@linkcode left} has found; may be called
   * twice.
   * @throws {StoreError} If it cannot be removed.
   */
  remove(delivery: Delivery, now: Moment): void {
    const { jid } = delivery;
    if (!isJid(jid)) return;
    const filed = this.#filed.delete(jid), twice = this.#twice.delete(jid);
    storing(`remove job ${jid}, which is delivered`, this.#directory, () => {
      if (twice || !filed && isBrief(delivery)) this.#inDirectory(() => this.#log.done(jid, now));
      if (filed || !isBrief(delivery)) removeIfExists(`${this.#directory}/${jid}`);
    });
  }

  /**
   * Removes log files whose jobs are over.
   * @returns Whether some are left for later.
   */
  sweepLog(now: Moment): boolean {
    return this.#log.sweep(now);
  }

  /** The jobs that are not over, as {@linkcode left} finds them; nothing is removed. */
  pending(now: Moment): Delivery[] {
    const filed = [...this.#readFiles(now).flatMap(({ delivery }) => delivery === undefined ? [] : [delivery])];
    return this.#withLogged(filed, now).filter(({ ttlMs }) => ttlMs > 0);
  }

  /**
   * The jobs that an earlier master left. Files of jobs whose time has ended are removed.
   * @param warn Called with jobs whose files a power failure has cut.
   */
  left(now: Moment, warn: (text: string) => void = () => {}): LeftJobs {
    const all = this.#withLogged(this.#leftInFiles(now, warn), now, (jid) => void this.#twice.add(jid));
    return {
      deliveries: all.filter(({ ttlMs }) => ttlMs > 0),
      expired: all.filter(({ ttlMs }) => ttlMs <= 0),
    };
  }

  /**
   * The jobs of the log, and those of the files, which win.
   * @param onTwice Called with jobs that are in both.
   */
  #withLogged(filed: readonly Delivery[], now: Moment, onTwice: (jid: string) => void = () => {}): Delivery[] {
    const jids = new Set(filed.map(({ jid }) => jid));
    const logged = this.#log.left().flatMap(({ jid, sealed }) => this.#open(jid, sealed, now) ?? []);
    for (const { jid } of logged) if (jids.has(jid)) onTwice(jid);
    return [...logged.filter(({ jid }) => !jids.has(jid)), ...filed];
  }

  /** The files, one after the other, each with its length and with its job if it can be read. */
  *#readFiles(now: Moment): Generator<{ jid: string; length?: number; delivery?: Delivery }> {
    const jids = [...Deno.readDirSync(this.#directory)].map(({ name }) => name).filter(isJid);
    for (const jid of jids) {
      const bytes = readFileIfExists(`${this.#directory}/${jid}`);
      yield { jid, length: bytes?.length, delivery: bytes === undefined ? undefined : this.#open(jid, bytes, now) };
    }
  }

  #leftInFiles(now: Moment, warn: (text: string) => void): Delivery[] {
    const deliveries: Delivery[] = [];
    for (const { jid, length, delivery } of this.#readFiles(now)) {
      if (length === 0) warn(`Job ${jid} is not delivered to the minions that have missed it: its file is empty`);
      if (delivery !== undefined && delivery.ttlMs > 0) this.#filed.add(jid);
      else removeIfExists(`${this.#directory}/${jid}`);
      if (delivery !== undefined) deliveries.push(delivery);
    }
    return deliveries;
  }

  /** The job in a record, with its remaining time, which may be over. */
  #open(jid: string, sealed: Uint8Array, now: Moment): Delivery | undefined {
    try {
      const stored = decode(this.#crypticle.decrypt(sealed), "disk");
      const load = isMap(stored) ? stored.get("load") : undefined;
      if (!isMap(stored) || !isMap(load)) return undefined;
      const minions = stored.get("minions");
      const ttlMs = toNumber(stored.get("ttl_ms")) ?? 0;
      // If the clock was set back, a job gets no more time than it had.
      return {
        jid,
        load,
        minions: listOrEmpty(minions).map(str),
        ttlMs: Math.min(msBetween(now, readDeadline(stored)), ttlMs),
        live: stored.get("live") === true,
        ...stored.has("sent") && { sent: listOrEmpty(stored.get("sent")).map(str) },
        ...stored.has("cancelled") && { cancelled: listOrEmpty(stored.get("cancelled")).map(str) },
      };
    } catch (error) {
      // Incomplete, or written by a master with another key.
      if (error instanceof AuthenticationError || error instanceof MsgpackError) return undefined;
      throw error;
    }
  }
}

/** Whether a job belongs in the log, whose files are kept for minutes even if the job is over. */
function isBrief({ load, ttlMs }: Delivery): boolean {
  return ttlMs <= LONGEST_MS && !isNoLog(load);
}
