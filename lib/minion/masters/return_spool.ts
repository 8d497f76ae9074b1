/**
 * Keeps returns on disk until the master has acknowledged them, so that none is lost when a master or a minion
 * restarts. One file per return, with names that sort by time; sent one after the other, and retried without a time
 * limit, unless age or size limits drop the oldest (which is logged). A return that the master refuses, or does not
 * answer while it answers other requests, moves to the end of the queue and is retried less and less often. Knows
 * nothing of the wire: the caller provides a function for sending.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { messageOf, MsgpackError, RequestTimeoutError, RequestTooLargeError } from "#lib/errors.ts";
import type { RecordTaker } from "#lib/os/journal.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { decode, encode, type Packable } from "#lib/values/msgpack.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";

export interface SpoolLimits {
  /** Bytes of all returns together; the newest is always kept. 0: no limit. */
  readonly maxBytes: number;
  /** Milliseconds that a return is kept. 0: no limit. */
  readonly maxAgeMs: number;
}

/** Options of a {@linkcode ReturnSpool}. */
export interface SpoolOptions {
  readonly directory: string;
  /** Delivers one return; rejects if the master cannot be reached, or refuses it. */
  send(load: ValueMap): Promise<void>;
  /** The return to send instead of one that is too large for the master; `undefined`: none. Default: none. */
  replace?(load: ValueMap, error: RequestTooLargeError): ValueMap | undefined;
  /**
   * Whether the master answers other requests; asked when it did not answer the same return again. Default: it does
   * not.
   */
  answers?(): Promise<boolean>;
  /** First and longest wait before a new try, in milliseconds. */
  readonly retryMs: readonly [number, number];
  readonly limits: SpoolLimits;
  readonly log: Logger;
  /** Who takes the returns, in messages. Default: the master. */
  readonly receiver?: string;
  /** Gets a record of each return that is spooled or delivered. */
  readonly journal?: RecordTaker;
  /** Of which of several masters it is, in these records. Default: there is one. */
  readonly of?: string;
}

/** The limits and waits that a minion's options say, for every spool of it. */
export function spoolRules(opts: MinionOpts): Pick<SpoolOptions, "limits" | "retryMs"> {
  const { return_retry_timer: retry, return_retry_timer_max: retryMax } = opts;
  return {
    limits: { maxBytes: opts.return_spool_max_size, maxAgeMs: opts.return_spool_max_age * 1000 },
    retryMs: [retry * 1000, Math.max(retryMax, retry) * 1000],
  };
}

/** A spooled return. */
interface Entry {
  /** Its file name: microseconds since the epoch. */
  readonly name: string;
  bytes: number;
  /** Its content, if it is in memory; otherwise it is read from disk. */
  load: ValueMap | undefined;
  /** Number of tries that the master did not answer. */
  silences: number;
  /** Number of times it was moved to the end of the queue. */
  rests: number;
  /** It is not sent before this time (`performance.now()`). */
  restsUntil: number;
}

function newEntry(name: string, bytes: number, load?: ValueMap): Entry {
  return { name, bytes, load, silences: 0, rests: 0, restsUntil: -Infinity };
}

/** Maximum number of returns that are also kept in memory. */
const AT_HAND = 16;
/** Minimum and maximum wait of a return that the master refuses or does not answer, in milliseconds. */
const SHORTEST_REST_MS = 50, LONGEST_REST_MS = 600_000;
/** Number of unanswered tries before the master is asked whether it answers at all. */
const SILENT_TRIES = 2;
/** Suffix of a file that cannot be read as a return. */
const BROKEN = ".broken";

/** Returns on disk until the master has acknowledged them. */
export class ReturnSpool {
  readonly #options: SpoolOptions;
  readonly #closing = new AbortController();
  readonly #entries: Entry[];
  #bytes: number;
  /** The number in the last name: microseconds since the epoch, or one more than the name before. */
  #last: number;
  #sending: Promise<void> | undefined;
  /** Ends the wait for the next try. */
  #wake = () => {};
  /** Whether all queued returns are waiting for a retry; a new one is sent at once. */
  #resting = false;

  /** Reads the returns that an earlier process left. Nothing is sent before {@linkcode flush} or {@linkcode add}. */
  constructor(options: SpoolOptions) {
    this.#options = options;
    const { directory } = options;
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => name.endsWith(".p")).sort();
    this.#entries = names.map((name) => newEntry(name, sizeOf(`${directory}/${name}`)));
    this.#bytes = this.#entries.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#last = Number.parseInt(names.at(-1) ?? "0") || 0;
    this.#obeyLimits();
  }

  /** Number of spooled returns. */
  get size(): number {
    return this.#entries.length;
  }

  get #of(): readonly [Value, Value][] {
    return this.#options.of === undefined ? [] : [["of", this.#options.of]];
  }

  /** The jobs with spooled returns, including those of an earlier process. */
  jids(): Set<string> {
    const returns = this.#entries.map((entry) => this.#load(entry)).filter((load) => load?.get("cmd") === "_return");
    return new Set(returns.map((load) => str(load?.get("jid") ?? "")));
  }

  /**
   * Keeps a return and delivers it. If none is queued before it, it is sent first and written meanwhile, so that the
   * master can start; in both cases it is on disk when this returns.
   */
  add(load: ValueMap): void {
    // Above the last number even if the clock was set back, so that names are unique and in order.
    this.#last = Math.max(Date.now() * 1000, this.#last + 1);
    const name = `${String(this.#last).padStart(20, "0")}.p`;
    const entry = newEntry(name, 0, load);
    this.#entries.push(entry);
    if (this.#resting) this.#wake();
    this.#start();
    if (this.#write(entry, load) && this.#entries.length > AT_HAND) entry.load = undefined;
    this.#obeyLimits();
  }

  /**
   * Replaces the content of an entry.
   * @returns Whether it is on disk.
   */
  #write(entry: Entry, load: ValueMap): boolean {
    const encoded = encode(load, "disk");
    this.#bytes += encoded.length - entry.bytes;
    entry.bytes = encoded.length;
    try {
      writeFileAtomic(`${this.#options.directory}/${entry.name}`, encoded, { mode: 0o600 });
      this.#options.journal?.append(
        new Map<Value, Packable>([["kind", "spooled"], ["name", entry.name], ["load", load], ...this.#of]),
      );
      return true;
    } catch (error) {
      const reason = messageOf(error);
      this.#options.log.error(`The return of job ${str(load.get("jid") ?? null)} is in memory only: ${reason}`);
      return false;
    }
  }

  /**
   * Sends queued returns now, because the caller knows that the master is running. Does nothing after
   * {@linkcode close}.
   */
  flush(): void {
    for (const entry of this.#entries) entry.restsUntil = -Infinity;
    this.#wake();
    this.#start();
  }

  /** Drops the oldest returns while limits are exceeded. */
  #obeyLimits(): void {
    const { maxBytes, maxAgeMs } = this.#options.limits;
    const oldest = maxAgeMs > 0 ? (Date.now() - maxAgeMs) * 1000 : -Infinity;
    for (;;) {
      const first = this.#entries.at(0);
      if (first === undefined) return;
      const old = Number.parseInt(first.name) < oldest;
      const tooMuch = maxBytes > 0 && this.#bytes > maxBytes && this.#entries.length > 1;
      if (!old && !tooMuch) return;
      const why = old
        ? `it is ${maxAgeMs / 1000} s old (return_spool_max_age)`
        : "too many wait (return_spool_max_size)";
      const jid = str(this.#load(first)?.get("jid") ?? "that cannot be read");
      this.#options.log.warning(
        `Dropped the return of job ${jid}, which ${this.#options.receiver ?? "the master"} did not acknowledge: ${why}`,
      );
      this.#leave(first);
      this.#remove(first.name);
    }
  }

  #start(): void {
    if (this.#closing.signal.aborted) return;
    this.#sending ??= this.#sendAll().catch(async (error) => {
      if (this.#closing.signal.aborted) return;
      this.#options.log.error(`The return spool stopped: ${messageOf(error)}`);
      // The same fault may come again at once, and each time.
      await this.#wait(this.#options.retryMs[1]);
    }).finally(() => {
      this.#sending = undefined;
      if (this.#entries.length > 0) this.#start();
    });
  }

  async #sendAll(): Promise<void> {
    const { log, receiver, retryMs: [firstMs, longestMs] } = this.#options;
    let waitMs = firstMs;
    for (;;) {
      this.#obeyLimits();
      if (this.#entries.length === 0 || this.#closing.signal.aborted) return;
      const now = performance.now();
      const entry = this.#entries.find(({ restsUntil }) => restsUntil <= now);
      if (entry === undefined) {
        this.#resting = true;
        await this.#wait(Math.min(...this.#entries.map(({ restsUntil }) => restsUntil)) - now);
        this.#resting = false;
        continue;
      }
      const load = this.#load(entry);
      if (load === undefined) {
        this.#leave(entry);
        continue;
      }
      try {
        await this.#options.send(load);
        this.#leave(entry);
        this.#remove(entry.name);
        waitMs = firstMs;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        const failure = error instanceof RequestTooLargeError ? this.#replace(entry, load, error) : error;
        if (failure === undefined) continue;
        const reason = messageOf(failure);
        const waits = receiver === undefined ? "waits" : `waits for ${receiver}`;
        log.warning(`The return of job ${str(load.get("jid") ?? null)} ${waits}; ${this.size} in all: ${reason}`);
        // Later returns may be accepted at once; only this one waits.
        if (await this.#moveToEnd(entry, failure)) continue;
        await this.#wait(waitMs);
        waitMs = Math.min(waitMs * 2, longestMs);
      }
    }
  }

  /**
   * A return that is too large can never be sent: it is replaced by a smaller one at its place in the queue, or
   * dropped.
   * @returns What `replace` threw, if it did.
   */
  #replace(entry: Entry, load: ValueMap, error: RequestTooLargeError): unknown {
    let instead: ValueMap | undefined;
    try {
      instead = this.#options.replace?.(load, error);
    } catch (fault) {
      return fault;
    }
    if (instead === undefined) {
      this.#options.log.error(`Dropped the return of job ${str(load.get("jid") ?? null)}: ${error.message}`);
      this.#leave(entry);
      this.#remove(entry.name);
    } else if (this.#entries.includes(entry)) {
      entry.load = instead;
      this.#write(entry, instead);
    }
    return undefined;
  }

  /**
   * Moves a failed return to the end of the queue and delays it, if the return is the reason; a missing master answers
   * nothing.
   * @returns Whether it was moved.
   */
  async #moveToEnd(entry: Entry, error: unknown): Promise<boolean> {
    const { retryMs: [firstMs, longestMs] } = this.#options;
    const silent = error instanceof RequestTimeoutError;
    if (silent && (++entry.silences < SILENT_TRIES || !await this.#options.answers?.())) return false;
    const at = this.#entries.indexOf(entry);
    if (at < 0) return true; // it was dropped while it was being sent
    this.#entries.push(...this.#entries.splice(at, 1));
    const growing = Math.max(firstMs, SHORTEST_REST_MS) * 2 ** entry.rests++;
    const restMs = Math.min(growing, Math.max(LONGEST_REST_MS, longestMs));
    entry.restsUntil = performance.now() + restMs;
    return true;
  }

  /** Removes an entry from the queue. */
  #leave(entry: Entry): void {
    const at = this.#entries.indexOf(entry);
    if (at < 0) return; // it was dropped while it was being sent
    this.#entries.splice(at, 1);
    this.#bytes -= entry.bytes;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Reads an entry; `undefined` if its file is missing, broken (then it is renamed) or unreadable; this is logged. */
  #load({ name, load }: Entry): ValueMap | undefined {
    if (load !== undefined) return load;
    const { directory, log } = this.#options;
    try {
      const read = decode(Deno.readFileSync(`${directory}/${name}`), "disk");
      if (isMap(read)) return read;
      throw new MsgpackError("it is not a return");
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error instanceof MsgpackError) this.#setAside(name, error.message);
      else log.error(`Cannot read ${name} of the return spool: ${error.message}`);
    }
    return undefined;
  }

  #setAside(name: string, reason: string): void {
    const { directory, log } = this.#options;
    try {
      Deno.renameSync(`${directory}/${name}`, `${directory}/${name}${BROKEN}`);
      log.error(`Set a broken file of the return spool aside, as ${directory}/${name}${BROKEN}: ${reason}`);
    } catch (error) {
      log.error(
        `Cannot set aside ${name} of the return spool, which is broken (${reason}): ${messageOf(error)}`,
      );
    }
  }

  #remove(name: string): void {
    try {
      Deno.removeSync(`${this.#options.directory}/${name}`);
      this.#options.journal?.append(new Map([...map({ kind: "sent", name }), ...this.#of]));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) {
        this.#options.log.error(
          `Could not remove ${name} from the return spool: ${messageOf(error)}`,
        );
      }
    }
  }

  /** Stops sending; returns that were not acknowledged stay on disk for the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    await this.#sending;
  }
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0; // reading it will give the reason
  }
}
