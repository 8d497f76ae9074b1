/**
 * The connection of a master that hears the wake-ups of the others, and carries its own signs of life. It is made
 * again for as long as the master runs, and so tells whether the database is away.
 * @module
 */

import type { Client } from "pg";
import { sleep } from "#lib/os/sleep.ts";
import { connectDatabase, DatabaseAwayError, databaseError, databasePlace } from "#lib/stores/postgres_connection.ts";
import type { PostgresPlace } from "#lib/stores/postgres_options.ts";

/** Time between two attempts to connect, in milliseconds. */
const RETRY_MS = 250;

/** Whom the connection tells what. */
export interface ControlListener {
  /** A master has written something of that kind. */
  onWake(kind: string): void;
  /** The database answers, for the first time or again. */
  onUp(): void;
  /** It does not. */
  onDown(reason: string): void;
}

/** Keeps one connection. */
export class ControlConnection {
  readonly #place: PostgresPlace;
  readonly #statementMs: number;
  readonly #listener: ControlListener;
  readonly #ending = new AbortController();
  #client: Client | undefined;
  #broken = Promise.withResolvers<string>();
  #up = false;
  readonly #running: Promise<void>;

  /** @param statementMs How long a statement may take; then the connection counts as broken. */
  constructor(place: PostgresPlace, statementMs: number, listener: ControlListener) {
    this.#place = place;
    this.#statementMs = statementMs;
    this.#listener = listener;
    this.#running = this.#keep();
  }

  /** Whether the database answers. */
  get up(): boolean {
    return this.#up;
  }

  /**
   * Runs statements in the connection.
   * @throws {DatabaseAwayError} If there is none, or it breaks.
   */
  async run<T>(statements: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (client === undefined) throw new DatabaseAwayError("the database is away", databasePlace(this.#place));
    try {
      return await statements(client);
    } catch (cause) {
      const error = databaseError(cause, this.#place);
      if (error instanceof DatabaseAwayError && client === this.#client) this.#broken.resolve(error.message);
      throw error;
    }
  }

  /** Never rejects. */
  async #keep(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      let reason: string;
      const broken = this.#broken = Promise.withResolvers<string>();
      try {
        const client = await this.#connect(broken.resolve);
        this.#client = client;
        this.#up = true;
        this.#listener.onUp();
        reason = await broken.promise;
        this.#client = undefined;
        void client.end().catch(() => {}); // it is broken, or nobody needs it any more
      } catch (cause) {
        reason = databaseError(cause, this.#place).message;
      }
      if (this.#ending.signal.aborted) return;
      this.#up = false;
      this.#listener.onDown(reason);
      await sleep(RETRY_MS, this.#ending.signal).catch(() => {}); // the master ends
    }
  }

  async #connect(onBroken: (reason: string) => void): Promise<Client> {
    const client = await connectDatabase(this.#place, {
      statementMs: this.#statementMs,
      onEnd: () => onBroken("the connection was closed"),
    });
    client.on("notification", ({ payload = "" }) => this.#listener.onWake(payload));
    try {
      await client.query(`listen ${this.#place.schema}`);
      return client;
    } catch (error) {
      void client.end().catch(() => {}); // the error is that of the statement
      throw error;
    }
  }

  /** Ends it. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#broken.resolve("the master ends");
    await this.#running;
  }
}
