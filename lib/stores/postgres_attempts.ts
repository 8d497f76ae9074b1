/**
 * A connection to PostgreSQL that is made again when it breaks: what is asked of it must bear to be repeated.
 * @module
 */

import type { Client } from "pg";
import { sleep } from "#lib/os/sleep.ts";
import { connectDatabase, DatabaseAwayError, databaseError } from "./postgres_connection.ts";
import type { PostgresPlace } from "./postgres_options.ts";

/** Time between two attempts, in milliseconds. */
const RETRY_MS = 100;

/** One connection, which is made again when it is broken. */
export class PostgresAttempts {
  readonly #options: PostgresPlace;
  readonly #prepare: (client: Client) => Promise<void>;
  readonly #statementMs: number;
  #client: Promise<Client> | undefined;

  /**
   * Connects with the first attempt.
   * @param how.statementMs How long a statement may take; then the connection counts as broken.
   * @param how.prepare Called with each new connection.
   */
  constructor(
    options: PostgresPlace,
    { statementMs, prepare }: { statementMs: number; prepare: (client: Client) => Promise<void> },
  ) {
    this.#options = options;
    this.#statementMs = statementMs;
    this.#prepare = prepare;
  }

  /**
   * Runs `run` with a connection, again after one that broke, until `untilMs` of `performance.now()`.
   * @throws {DatabaseAwayError} If that time is over.
   */
  async attempt<T>(untilMs: number, run: (client: Client) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const client = await (this.#client ??= this.#connect());
        return await run(client);
      } catch (cause) {
        const error = databaseError(cause, this.#options);
        if (!(error instanceof DatabaseAwayError)) throw error;
        this.#drop();
        if (performance.now() >= untilMs) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  #connect(): Promise<Client> {
    const client = (async () => {
      const client = await connectDatabase(this.#options, {
        statementMs: this.#statementMs,
        onEnd: () => this.#drop(),
      });
      try {
        await this.#prepare(client);
      } catch (error) {
        void client.end().catch(() => {}); // the error is that of the statement
        throw error;
      }
      return client;
    })();
    client.catch(() => this.#client = undefined);
    return client;
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    // A statement of it may hang: nobody waits for the end.
    void client?.then((client) => client.end()).catch(() => {});
  }

  /** Ends the connection; the next attempt makes another. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.then((client) => client.end()).catch(() => {}); // it may be broken
  }
}
