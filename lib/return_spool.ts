/**
 * Returns on their way to the master, on disk until it has them: a master that restarts, or a minion, loses none.
 *
 * One file a return, named so that they sort in the order they were made; sent one after the other, tried for as long as
 * it takes. One that fails otherwise than by silence does not hold up the others: it goes to the end of the line. Knows
 * nothing of the wire: it is given a way to send.
 * @module
 */

import { writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError, RequestTimeoutError } from "./errors.ts";
import type { Logger } from "./log.ts";
import { decode, encode } from "./msgpack.ts";
import { isMap, str, type ValueMap } from "./value.ts";

/** What a spool is made of. */
export interface SpoolOptions {
  /** A directory of its own. */
  readonly directory: string;
  /** Delivers one return; rejects while the master cannot be reached. */
  send(load: ValueMap): Promise<void>;
  /** First and longest wait before a new try, in milliseconds. */
  readonly retryMs: readonly [number, number];
  /** The minion's log. */
  readonly log: Logger;
}

/** The spool. */
export class ReturnSpool {
  readonly #options: SpoolOptions;
  readonly #closing = new AbortController();
  readonly #names: string[];
  /** The loads of names spooled by this process; those of an earlier one are read from disk. */
  readonly #loads = new Map<string, ValueMap>();
  /** What the last name was made of: microseconds since the epoch, or one more than the name before. */
  #last: number;
  #sending: Promise<void> | undefined;
  /** Ends the wait for the next try. */
  #wake = () => {};

  /** Takes up what an earlier process left; nothing is sent before {@linkcode flush} or {@linkcode add}. */
  constructor(options: SpoolOptions) {
    this.#options = options;
    Deno.mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    this.#names = [...Deno.readDirSync(options.directory)].map(({ name }) => name).filter((n) => n.endsWith(".p"))
      .sort();
    this.#last = Number.parseInt(this.#names.at(-1) ?? "0") || 0;
  }

  /** How many returns wait. */
  get size(): number {
    return this.#names.length;
  }

  /** The jobs whose returns wait, those that an earlier process left included. */
  jids(): Set<string> {
    return new Set(this.#names.map((name) => str(this.#load(name)?.get("jid") ?? "")));
  }

  /** Keeps a return and sees to it that it is delivered. */
  add(load: ValueMap): void {
    // Above the last one even if the clock was set back: no return takes another's name or place.
    this.#last = Math.max(Date.now() * 1000, this.#last + 1);
    const name = `${String(this.#last).padStart(20, "0")}.p`;
    this.#loads.set(name, load);
    this.#names.push(name);
    try {
      writeFileAtomic(`${this.#options.directory}/${name}`, encode(load, "disk"), { mode: 0o600 });
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      this.#options.log.error(`The return of job ${str(load.get("jid") ?? null)} is in memory only: ${reason}`);
    }
    this.#start();
  }

  /** Sends what waits, now: whoever calls knows that the master is there. After {@linkcode close} nothing is sent. */
  flush(): void {
    this.#wake();
    this.#start();
  }

  #start(): void {
    if (this.#closing.signal.aborted) return;
    this.#sending ??= this.#sendAll().catch((error) => {
      if (!this.#closing.signal.aborted) this.#options.log.error(`The return spool stopped: ${error.message}`);
    }).finally(() => {
      this.#sending = undefined;
      if (this.#names.length > 0) this.#start();
    });
  }

  async #sendAll(): Promise<void> {
    const { log, retryMs: [firstMs, longestMs] } = this.#options;
    let waitMs = firstMs;
    while (this.#names.length > 0 && !this.#closing.signal.aborted) {
      const name = this.#names[0];
      const load = this.#load(name);
      if (load !== undefined) {
        try {
          await this.#options.send(load);
          this.#remove(name);
          waitMs = firstMs;
        } catch (error) {
          if (this.#closing.signal.aborted) return;
          const reason = error instanceof Error ? error.message : error;
          log.warning(`The return of job ${str(load.get("jid") ?? null)} waits; ${this.size} in all: ${reason}`);
          if (!(error instanceof RequestTimeoutError)) this.#names.push(...this.#names.splice(0, 1));
          await this.#wait(waitMs);
          waitMs = Math.min(waitMs * 2, longestMs);
          continue;
        }
      }
      this.#names.shift();
      this.#loads.delete(name);
    }
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

  /** The return called `name`; `undefined` if its file is gone, broken (then it goes) or unreadable, which the log says. */
  #load(name: string): ValueMap | undefined {
    const known = this.#loads.get(name);
    if (known !== undefined) return known;
    const { directory, log } = this.#options;
    try {
      const load = decode(Deno.readFileSync(`${directory}/${name}`), "disk");
      if (isMap(load)) return load;
      throw new MsgpackError("it is no return");
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const broken = error instanceof MsgpackError;
      log.error(`${broken ? "Dropped" : "Cannot read"} ${name} of the return spool: ${error.message}`);
      if (broken) this.#remove(name);
    }
    return undefined;
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
