/**
 * Looks at what others may have written: when somebody says that there is more, and from time to time in case that
 * was lost.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import type { WakeKind } from "./cluster_database.ts";

/** Time between two looks that nobody asked for, in milliseconds. */
const OFTEN_MS = 200, SELDOM_MS = 2_000;
const SELDOM: readonly WakeKind[] = ["k", "d", "s"];

/** One look that is repeated, never twice at once. */
class Follower {
  readonly #look: () => Promise<void>;
  readonly #everyMs: number;
  readonly #error: (text: string) => void;
  #running: Promise<void> | undefined;
  #again = false;
  #timer: Timer | undefined;
  #said = "";
  #closed = false;

  constructor(look: () => Promise<void>, everyMs: number, error: (text: string) => void) {
    this.#look = look;
    this.#everyMs = everyMs;
    this.#error = error;
  }

  wake(): void {
    if (this.#closed) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        await this.#look();
        this.#said = "";
      } catch (error) {
        // That the database is away is said by whoever keeps the connection, which wakes all when it is back.
        if (!(error instanceof DatabaseAwayError)) this.#say(messageOf(error));
      }
    }
    this.#running = undefined;
    if (!this.#closed) this.#timer = setTimeout(() => this.wake(), this.#everyMs);
  }

  #say(text: string): void {
    if (text !== this.#said) this.#error(text);
    this.#said = text;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    await this.#running;
  }
}

/** The looks of one master. */
export class WakeUps {
  readonly #error: (text: string) => void;
  readonly #isAway: () => boolean;
  readonly #followers = new Map<WakeKind, Follower[]>();

  /**
   * @param error Logs a look that failed.
   * @param isAway Whether the database is away: then nobody looks.
   */
  constructor(error: (text: string) => void, isAway: () => boolean) {
    this.#error = error;
    this.#isAway = isAway;
  }

  /** Calls `look` from now on. */
  follow(kind: WakeKind, look: () => Promise<void>): void {
    const everyMs = SELDOM.includes(kind) ? SELDOM_MS : OFTEN_MS;
    const guarded = () => this.#isAway() ? Promise.resolve() : look();
    const follower = new Follower(guarded, everyMs, this.#error);
    this.#followers.set(kind, [...this.#followers.get(kind) ?? [], follower]);
    follower.wake();
  }

  /** Looks at what is of that kind; without one, at everything. */
  wake(kind?: string): void {
    for (const [one, followers] of this.#followers) {
      if (kind === undefined || one === kind) followers.forEach((follower) => follower.wake());
    }
  }

  /** Ends when the running looks have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#followers.values()].flat().map((follower) => follower.close()));
  }
}
