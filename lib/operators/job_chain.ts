/**
 * Appends to the chain of a minion's jobs (chain_records.ts).
 * @module
 */

import { messageOf, PreflightError } from "#lib/errors.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { systemReason } from "#lib/os/deno_texts.ts";
import { appendFrame, frameRecord } from "#lib/os/record_file.ts";
import { writeAll } from "#lib/os/write_all.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { bodyHash } from "./job_statement.ts";
import type { CheckedJob } from "./check_job.ts";
import {
  CHAIN_FORM,
  chainHead,
  type ChainKind,
  type ChainLink,
  chainPath,
  NO_RECORD,
  olderChainPath,
  readChainEnd,
  recordFields,
  recordHash,
} from "./chain_records.ts";

/** Bytes at which a file becomes the older one: some twenty thousand jobs. */
const MAX_BYTES = 8 << 20;

/** The chain of one running minion. */
export class JobChain {
  readonly #cachedir: string;
  readonly #log: Logger;
  readonly #maxBytes: number;
  #last: ChainLink;
  #bytes: number;
  #file: Deno.FsFile;
  #start: Deno.FsFile;
  #unsynced = false;
  /** Whether there may be a part of a record at the end. */
  #isTorn = false;

  /**
   * Goes on with the chain of the process before.
   * @throws {PreflightError} If it cannot be read or written.
   */
  static open(cachedir: string, log: Logger): JobChain {
    try {
      return new JobChain(cachedir, log);
    } catch (error) {
      const path = chainPath(cachedir);
      throw new PreflightError(
        `The chain of jobs in ${path} cannot be continued, and without it no job would leave a record: ${
          systemReason(error)
        }. Free space or make it writable, or set job_chain: false`,
        { cause: error },
      );
    }
  }

  /**
   * @param maxBytes Default: those of some twenty thousand jobs.
   * @throws What reading and opening throws.
   */
  constructor(cachedir: string, log: Logger, maxBytes = MAX_BYTES) {
    this.#cachedir = cachedir;
    this.#log = log;
    this.#maxBytes = maxBytes;
    const { head, problems, bytes } = readChainEnd(cachedir), path = chainPath(cachedir);
    this.#last = head ?? { n: 0, hash: NO_RECORD };
    for (const problem of problems) log.error(`The chain of jobs has a fault: ${problem}`);
    if (bytes < chainHead(this.#last).length) writeFileAtomic(path, chainHead(this.#last), { mode: 0o600 });
    // What is behind the last whole record would hide all that follow.
    else Deno.truncateSync(path, bytes);
    this.#bytes = Math.max(bytes, chainHead(this.#last).length);
    [this.#file, this.#start] = open(path);
  }

  /** Adds a job that is about to run. */
  accepted(load: ValueMap, signed: CheckedJob | undefined): void {
    this.#append("job", load, { body: bodyHash(load, bodyOf(signed)), key: signed?.key ?? "" });
  }

  /** Adds a job that does not run. */
  refused(load: ValueMap, why: string, signed: CheckedJob): ChainLink | undefined {
    return this.#append("refused", load, { body: bodyHash(load, bodyOf(signed)), key: signed.key, why });
  }

  /** Adds the return of a job. */
  returned(load: ValueMap, retcode: Value): ChainLink | undefined {
    return this.#append("return", load, { retcode });
  }

  /** @returns `undefined` if it could not be written; the job goes on: it may be the one that frees space. */
  #append(kind: ChainKind, load: ValueMap, more: Readonly<Record<string, Value>>): ChainLink | undefined {
    const about = { kind, jid: load.get("jid") ?? null, fun: load.get("fun") ?? null, ...more };
    const n = this.#last.n + 1, record = encode(recordFields(n, this.#last.hash, about), "disk");
    try {
      if (this.#isTorn) this.#repair();
      if (this.#bytes >= this.#maxBytes) this.#turn();
      const framed = frameRecord(record, CHAIN_FORM);
      this.#isTorn = true;
      appendFrame(this.#file, framed);
      this.#isTorn = false;
      this.#bytes += framed.length;
      this.#last = { n, hash: recordHash(record) };
      this.#unsynced = true;
    } catch (error) {
      this.#log.error(`Job ${String(about.jid)} is not in the chain of jobs: ${messageOf(error)}`);
      this.#tryRepair();
      return undefined;
    }
    this.#writeHead();
    return this.#last;
  }

  /** The beginning may be older than the last record, which is there. */
  #writeHead(): void {
    try {
      this.#start.seekSync(0, Deno.SeekMode.Start);
      writeAll(this.#start, chainHead(this.#last));
    } catch (error) {
      this.#log.error(`The beginning of the chain of jobs is older than its last record: ${messageOf(error)}`);
    }
  }

  /** Begins a new file. */
  #turn(): void {
    const path = chainPath(this.#cachedir);
    Deno.renameSync(path, olderChainPath(this.#cachedir));
    this.close();
    writeFileAtomic(path, chainHead(this.#last), { mode: 0o600 });
    this.#bytes = chainHead(this.#last).length;
    [this.#file, this.#start] = open(path);
  }

  /**
   * A part of a record would hide all that follow: nothing is added before it is gone.
   * @throws What truncating throws: the disk may be mounted read-only.
   */
  #repair(): void {
    this.#file.truncateSync(this.#bytes);
    this.#isTorn = false;
  }

  #tryRepair(): void {
    if (!this.#isTorn) return;
    try {
      this.#repair();
    } catch (error) {
      this.#log.error(`The chain of jobs has a part of a record at its end: ${messageOf(error)}`);
    }
  }

  /**
   * Resolves when everything added is on the disk.
   * @throws What syncing throws.
   */
  async sync(): Promise<void> {
    if (!this.#unsynced) return;
    this.#unsynced = false;
    await this.#file.syncData();
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
    this.#start.close();
  }
}

/** What was signed, if a known key signed it. */
function bodyOf(signed: CheckedJob | undefined): Uint8Array | undefined {
  return signed === undefined || signed.key === "" ? undefined : signed.body;
}

function open(path: string): [records: Deno.FsFile, start: Deno.FsFile] {
  return [Deno.openSync(path, { append: true, mode: 0o600 }), Deno.openSync(path, { write: true })];
}
