/**
 * Returns on their way to the master, on disk until it has them: a master that restarts, or a minion, loses none.
 *
 * One file a return, named so that they sort in the order they were made; sent one after the other, tried for as long as
 * it takes, or as age and size allow: then the oldest go, and the log says which. One that fails otherwise than by silence
 * does not hold up the others: it goes to the end of the line. Knows nothing of the wire: it is given a way to send.
 * @module
 */

import { writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError, RequestTimeoutError } from "./errors.ts";
import type { Logger } from "./log.ts";
import { decode, encode } from "./msgpack.ts";
import { isMap, str, type ValueMap } from "./value.ts";

/** How much a spool keeps. */
export interface SpoolLimits {
  /** Bytes of all returns together; the newest one is kept whatever its size. 0: no bound. */
  readonly maxBytes: number;
  /** Milliseconds that a return is kept. 0: no bound. */
  readonly maxAgeMs: number;
}

/** What a spool is made of. */
export interface SpoolOptions {
  /** A directory of its own. */
  readonly directory: string;
  /** Delivers one return; rejects while the master cannot be reached. */
  send(load: ValueMap): Promise<void>;
  /** First and longest wait before a new try, in milliseconds. */
  readonly retryMs: readonly [number, number];
  /** How much it keeps. Default: everything. */
  readonly limits?: SpoolLimits;
  /** The minion's log. */
  readonly log: Logger;
}

/** A return that waits. */
interface Entry {
  /** The name of its file: microseconds since the epoch. */
  readonly name: string;
  /** Its size on disk. */
  bytes: number;
  /** What it holds, while that is at hand; else it is read from disk. */
  load: ValueMap | undefined;
}

const NO_LIMITS: SpoolLimits = { maxBytes: 0, maxAgeMs: 0 };
/** While no more than so many wait, they are at hand in memory as well. */
const AT_HAND = 16;
/** What is put behind the name of a file that cannot be read as a return. */
const BROKEN = ".broken";

/** The spool. */
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

  /** Takes up what an earlier process left; nothing is sent before {@linkcode flush} or {@linkcode add}. */
  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#limits = options.limits ?? NO_LIMITS;
    const { directory } = options;
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => name.endsWith(".p")).sort();
    this.#entries = names.map((name) => ({ name, bytes: sizeOf(`${directory}/${name}`), load: undefined }));
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
    const entry: Entry = { name, bytes: 0, load };
    this.#entries.push(entry);
    this.#start();
    const encoded = encode(load, "disk");
    try {
      writeFileAtomic(`${this.#options.directory}/${name}`, encoded, { mode: 0o600 });
      if (this.#entries.length > AT_HAND) entry.load = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      this.#options.log.error(`The return of job ${str(load.get("jid") ?? null)} is in memory only: ${reason}`);
    }
    entry.bytes = encoded.length;
    this.#bytes += encoded.length;
    this.#obeyLimits();
  }

  /** Sends what waits, now: whoever calls knows that the master is there. After {@linkcode close} nothing is sent. */
  flush(): void {
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
      const entry = this.#entries.at(0);
      if (entry === undefined || this.#closing.signal.aborted) return;
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
        const reason = error instanceof Error ? error.message : error;
        log.warning(`The return of job ${str(load.get("jid") ?? null)} waits; ${this.size} in all: ${reason}`);
        if (!(error instanceof RequestTimeoutError) && this.#entries[0] === entry) {
          this.#entries.push(...this.#entries.splice(0, 1));
        }
        await this.#wait(waitMs);
        waitMs = Math.min(waitMs * 2, longestMs);
      }
    }
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
