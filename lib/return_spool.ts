/**
 * Returns on their way to the master, on disk until it has them: a master that restarts, or a minion, loses none.
 *
 * One file a return, named so that they sort in the order they were made; sent one after the other, tried for as long as
 * it takes. Knows nothing of the wire: it is given a way to send.
 * @module
 */

import { writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError } from "./errors.ts";
import type { Logger } from "./log.ts";
import { decode, encode } from "./msgpack.ts";
import { sleep } from "./sleep.ts";
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
  #count = 0;
  #sending: Promise<void> | undefined;

  /** Takes up what an earlier process left; nothing is sent before {@linkcode flush} or {@linkcode add}. */
  constructor(options: SpoolOptions) {
    this.#options = options;
    Deno.mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    this.#names = [...Deno.readDirSync(options.directory)].map(({ name }) => name).filter((n) => n.endsWith(".p"))
      .sort();
  }

  /** How many returns wait. */
  get size(): number {
    return this.#names.length;
  }

  /** Keeps a return and sees to it that it is delivered. */
  add(load: ValueMap): void {
    const name = `${String(Date.now()).padStart(15, "0")}-${String(this.#count++).padStart(8, "0")}.p`;
    this.#loads.set(name, load);
    this.#names.push(name);
    try {
      writeFileAtomic(`${this.#options.directory}/${name}`, encode(load, "disk"), { mode: 0o600 });
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      this.#options.log.error(`The return of job ${str(load.get("jid") ?? null)} is in memory only: ${reason}`);
    }
    this.flush();
  }

  /** Sends what waits, unless that is under way. */
  flush(): void {
    this.#sending ??= this.#sendAll().catch((error) => {
      if (!this.#closing.signal.aborted) this.#options.log.error(`The return spool stopped: ${error.message}`);
    }).finally(() => {
      this.#sending = undefined;
      if (this.#names.length > 0 && !this.#closing.signal.aborted) this.flush();
    });
  }

  async #sendAll(): Promise<void> {
    const { log, retryMs: [firstMs, longestMs] } = this.#options;
    let waitMs = firstMs;
    while (this.#names.length > 0) {
      const name = this.#names[0];
      const load = this.#load(name);
      if (load !== undefined) {
        try {
          await this.#options.send(load);
          waitMs = firstMs;
        } catch (error) {
          if (this.#closing.signal.aborted) return;
          const reason = error instanceof Error ? error.message : error;
          log.warning(`The return of job ${str(load.get("jid") ?? null)} waits; ${this.size} in all: ${reason}`);
          await sleep(waitMs, this.#closing.signal);
          waitMs = Math.min(waitMs * 2, longestMs);
          continue;
        }
      }
      this.#names.shift();
      this.#loads.delete(name);
      this.#remove(name);
    }
  }

  /** The return called `name`; `undefined` if its file is gone or broken, which the log says. */
  #load(name: string): ValueMap | undefined {
    const known = this.#loads.get(name);
    if (known !== undefined) return known;
    try {
      const load = decode(Deno.readFileSync(`${this.#options.directory}/${name}`), "disk");
      if (isMap(load)) return load;
      this.#options.log.error(`Dropped ${name} from the return spool: it is no return`);
    } catch (error) {
      if (!(error instanceof MsgpackError || error instanceof Deno.errors.NotFound)) throw error;
      this.#options.log.error(`Dropped ${name} from the return spool: ${error.message}`);
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
    this.#closing.abort(new Error("The minion ends"));
    await this.#sending;
  }
}
