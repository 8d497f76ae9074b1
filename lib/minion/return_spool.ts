/**
 * Returns on their way to the master, on disk until it has them: a master that restarts, or a minion, loses none.
 *
 * One file a return, named so that they sort in the order they were made; sent one after the other, tried for as long as
 * it takes, or as age and size allow: then the oldest go, and the log says which. One that the master refuses, or does not answer
 * while it answers other questions, does not hold up the others: it goes to the end of the line, and is tried less and less often.
 * Knows nothing of the wire: it is given a way to send.
 * @module
 */

import { writeFileAtomic } from "../os/atomic_file.ts";
import { MsgpackError, RequestTimeoutError, RequestTooLargeError } from "../errors.ts";
import type { RecordTaker } from "../os/journal.ts";
import type { Logger } from "../process/log.ts";
import { decode, encode, type Packable } from "../values/msgpack.ts";
import { isMap, map, str, type Value, type ValueMap } from "../values/value.ts";

/** How much a spool keeps. */
export interface SpoolLimits {
  /** Bytes of all returns together; the newest one is kept whatever its size. 0: no bound. */
  readonly maxBytes: number;
  /** Milliseconds that a return is kept. 0: no bound. */
  readonly maxAgeMs: number;
}

/** What a spool is made of. */
export interface SpoolOptions {
  readonly directory: string;
  /** Delivers one return; rejects while the master cannot be reached, or if it will not have it. */
  send(load: ValueMap): Promise<void>;
  /** What is to be sent in the place of a return that is too large for the master; `undefined`: nothing. Default: nothing. */
  replace?(load: ValueMap, error: RequestTooLargeError): ValueMap | undefined;
  /** Whether the master answers at all, asked when it was silent about the same return again. Default: it does not. */
  answers?(): Promise<boolean>;
  /** First and longest wait before a new try, in milliseconds. */
  readonly retryMs: readonly [number, number];
  /** How much it keeps. Default: everything. */
  readonly limits?: SpoolLimits;
  /** The minion's log. */
  readonly log: Logger;
  /** Told of each return that waits, and of each that does no longer. */
  readonly journal?: RecordTaker;
}

/** A return that waits. */
interface Entry {
  /** The name of its file: microseconds since the epoch. */
  readonly name: string;
  /** Its size on disk. */
  bytes: number;
  /** What it holds, while that is at hand; else it is read from disk. */
  load: ValueMap | undefined;
  /** How often the master did not answer. */
  silences: number;
  /** How often it was put behind the others. */
  rests: number;
  /** It is not sent again before this time, as `performance.now()` counts. */
  restsUntil: number;
}

function newEntry(name: string, bytes: number, load?: ValueMap): Entry {
  return { name, bytes, load, silences: 0, rests: 0, restsUntil: -Infinity };
}

const NO_LIMITS: SpoolLimits = { maxBytes: 0, maxAgeMs: 0 };
/** While no more than so many wait, they are at hand in memory as well. */
const AT_HAND = 16;
/** The shortest and the longest time that a return rests which the master refuses, or is silent about, in milliseconds. */
const SHORTEST_REST_MS = 50, LONGEST_REST_MS = 600_000;
/** So often the master is silent about a return before it is asked whether it is there. */
const SILENT_TRIES = 2;
/** What is put behind the name of a file that cannot be read as a return. */
const BROKEN = ".broken";

/** Returns on disk until the master has acknowledged them. */
export class ReturnSpool {
  readonly #options: SpoolOptions;
  readonly #limits: SpoolLimits;
  readonly #closing = new AbortController();
  readonly #entries: Entry[];
  #bytes: number;
  /** What the last name was made of: microseconds since the epoch, or one more than the name before. */
  #last: number;
  #sending: Promise<void> | undefined;
  /** Ends the wait for the next try. */
  #wake = () => {};
  /** Whether all that wait rest: a new one need not. */
  #resting = false;

  /** Takes up what an earlier process left; nothing is sent before {@linkcode flush} or {@linkcode add}. */
  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#limits = options.limits ?? NO_LIMITS;
    const { directory } = options;
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => name.endsWith(".p")).sort();
    this.#entries = names.map((name) => newEntry(name, sizeOf(`${directory}/${name}`)));
    this.#bytes = this.#entries.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#last = Number.parseInt(names.at(-1) ?? "0") || 0;
    this.#obeyLimits();
  }

  /** How many returns wait. */
  get size(): number {
    return this.#entries.length;
  }

  /** The jobs whose returns wait, those that an earlier process left included. */
  jids(): Set<string> {
    const returns = this.#entries.map((entry) => this.#load(entry)).filter((load) => load?.get("cmd") === "_return");
    return new Set(returns.map((load) => str(load?.get("jid") ?? "")));
  }

  /**
   * Keeps a return and sees to it that it is delivered. If none waits before it, it is sent first, so that the master is at
   * work on it while it is written here; either way it is on disk when this returns.
   */
  add(load: ValueMap): void {
    // Above the last one even if the clock was set back: no return takes another's name or place.
    this.#last = Math.max(Date.now() * 1000, this.#last + 1);
    const name = `${String(this.#last).padStart(20, "0")}.p`;
    const entry = newEntry(name, 0, load);
    this.#entries.push(entry);
    if (this.#resting) this.#wake();
    this.#start();
    if (this.#write(entry, load) && this.#entries.length > AT_HAND) entry.load = undefined;
    this.#obeyLimits();
  }

  /** Writes what an entry holds from now on. @returns Whether it is on disk. */
  #write(entry: Entry, load: ValueMap): boolean {
    const encoded = encode(load, "disk");
    this.#bytes += encoded.length - entry.bytes;
    entry.bytes = encoded.length;
    try {
      writeFileAtomic(`${this.#options.directory}/${entry.name}`, encoded, { mode: 0o600 });
      this.#options.journal?.append(
        new Map<Value, Packable>([["kind", "spooled"], ["name", entry.name], ["load", load]]),
      );
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      this.#options.log.error(`The return of job ${str(load.get("jid") ?? null)} is in memory only: ${reason}`);
      return false;
    }
  }

  /** Sends what waits, now: whoever calls knows that the master is there, or a new one. After {@linkcode close} nothing is sent. */
  flush(): void {
    for (const entry of this.#entries) entry.restsUntil = -Infinity;
    this.#wake();
    this.#start();
  }

  /** Lets the first in line go while they are too old, or too much. */
  #obeyLimits(): void {
    const { maxBytes, maxAgeMs } = this.#limits;
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
      this.#options.log.warning(`Gave up the return of job ${jid}, which the master did not take: ${why}`);
      this.#leave(first);
      this.#remove(first.name);
    }
  }

  #start(): void {
    if (this.#closing.signal.aborted) return;
    this.#sending ??= this.#sendAll().catch((error) => {
      if (!this.#closing.signal.aborted) this.#options.log.error(`The return spool stopped: ${error.message}`);
    }).finally(() => {
      this.#sending = undefined;
      if (this.#entries.length > 0) this.#start();
    });
  }

  async #sendAll(): Promise<void> {
    const { log, retryMs: [firstMs, longestMs] } = this.#options;
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
        if (error instanceof RequestTooLargeError) {
          this.#replace(entry, load, error);
          continue;
        }
        const reason = error instanceof Error ? error.message : error;
        log.warning(`The return of job ${str(load.get("jid") ?? null)} waits; ${this.size} in all: ${reason}`);
        // Whatever comes next may be taken at once: that one alone rests.
        if (await this.#moveToEnd(entry, error)) continue;
        await this.#wait(waitMs);
        waitMs = Math.min(waitMs * 2, longestMs);
      }
    }
  }

  /** What was too large is never sent, today or in a week: something else is sent in its place in line, or nothing. */
  #replace(entry: Entry, load: ValueMap, error: RequestTooLargeError): void {
    const instead = this.#options.replace?.(load, error);
    if (instead === undefined) {
      this.#options.log.error(`Gave up the return of job ${str(load.get("jid") ?? null)}: ${error.message}`);
      this.#leave(entry);
      this.#remove(entry.name);
    } else if (this.#entries.includes(entry)) {
      entry.load = instead;
      this.#write(entry, instead);
    }
  }

  /**
   * Puts a return that failed behind the others and has it rest, if that is due to the return: a master that is away answers
   * nothing. @returns Whether it did.
   */
  async #moveToEnd(entry: Entry, error: unknown): Promise<boolean> {
    const { retryMs: [firstMs, longestMs] } = this.#options;
    const silent = error instanceof RequestTimeoutError;
    if (silent && (++entry.silences < SILENT_TRIES || !await this.#options.answers?.())) return false;
    const at = this.#entries.indexOf(entry);
    if (at < 0) return true; // it was given up while it was under way
    this.#entries.push(...this.#entries.splice(at, 1));
    const growing = Math.max(firstMs, SHORTEST_REST_MS) * 2 ** entry.rests++;
    const restMs = Math.min(growing, Math.max(LONGEST_REST_MS, longestMs));
    entry.restsUntil = performance.now() + restMs;
    return true;
  }

  /** Takes an entry out of the line. */
  #leave(entry: Entry): void {
    const at = this.#entries.indexOf(entry);
    if (at < 0) return; // it was given up while it was under way
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

  /** What an entry holds; `undefined` if its file is gone, broken (then it is set aside) or unreadable: the log says so. */
  #load({ name, load }: Entry): ValueMap | undefined {
    if (load !== undefined) return load;
    const { directory, log } = this.#options;
    try {
      const read = decode(Deno.readFileSync(`${directory}/${name}`), "disk");
      if (isMap(read)) return read;
      throw new MsgpackError("it is no return");
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
        `Cannot set aside ${name} of the return spool, which is broken (${reason}): ${
          error instanceof Error ? error.message : error
        }`,
      );
    }
  }

  #remove(name: string): void {
    try {
      Deno.removeSync(`${this.#options.directory}/${name}`);
      this.#options.journal?.append(map({ kind: "sent", name }));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) {
        this.#options.log.error(
          `Could not remove ${name} from the return spool: ${error instanceof Error ? error.message : error}`,
        );
      }
    }
  }

  /** Stops sending; what was not acknowledged stays on disk for the next start. */
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
    return 0; // whoever reads it will say what is wrong with it
  }
}
