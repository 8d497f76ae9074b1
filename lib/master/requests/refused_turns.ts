/**
 * Turns of connections whose requests are refused: what cannot be read, is sealed with no key of its sender, names
 * another minion, or comes from a user who is not known. Reading such a request takes time that nobody answers for. One
 * connection may have a tenth of a processor for it in the long run, and a tenth of a second more at once; all together
 * a quarter of the processors. Beyond that its requests wait, unread, and few of them may: others get no answer. Who
 * was never refused does not wait, but for large requests on a connection of which none was accepted yet.
 *
 * The id in a request is only claimed until the request is opened, so it counts for nothing here: nobody can use up the
 * turn of another minion. Each thread counts for itself, with its share. Knows no requests.
 * Source: measured (docs/decisions.md "Fair turns").
 * @module
 */

import { BoundedMap } from "#lib/values/bounded_map.ts";

/** The part of one processor that a connection's refused requests may have in the long run. */
const OWN_PART = 0.1;
/** The part of all processors that all refused requests may have. */
const COMMON_PART = 0.25;
/** What they may use at once, in milliseconds of all threads. */
const OWN_BURST_MS = 100, COMMON_BURST_MS = 1_000;
/** A request with so many bytes is a large one. One with fewer than the other costs little more than its way here. */
const LARGE_BYTES = 65_536, SMALL_BYTES = 4_096;
/** A request waits no longer, in milliseconds: minions send it again after five seconds or more. */
const LONGEST_MS = 4_000;
/** Requests of one connection that wait in a thread, those of all, and their bytes. */
const MAX_OWN = 2, MAX_WAITING = 8, MAX_BYTES = 16_000_000;
/** Connections that a thread remembers. */
const MAX_CONNECTIONS = 10_000;
/** The log has a line once in this time, in milliseconds. */
const LOG_MS = 10_000;

/** Time that was used, which a part of a thread makes up for. */
class Debt {
  /** When it has been made up for, in milliseconds of the clock. */
  untilMs = 0;

  /** @param share The part of the thread. */
  constructor(readonly share: number, readonly burstMs: number) {}

  /** How long it is until a request may be read, in milliseconds. */
  waitMs(nowMs: number): number {
    return Math.min(LONGEST_MS, Math.max(0, this.untilMs - nowMs - this.burstMs));
  }

  use(ms: number, nowMs: number): void {
    const until = Math.max(nowMs, this.untilMs) + ms / this.share;
    // What waits longest need not make up for all that came before it.
    this.untilMs = Math.min(until, nowMs + this.burstMs + LONGEST_MS);
  }
}

/** What is known of a connection. */
interface Connection {
  readonly own: Debt;
  /** What its refused requests take, in milliseconds. */
  costMs: number;
  waiting: number;
}

/** How a {@linkcode RefusedTurns} counts. */
export interface RefusedTurnsOptions {
  /** How many threads take requests. */
  readonly threads: number;
  /** Default: those of this machine. */
  readonly processors?: number;
  /** Milliseconds of a clock that does not jump. */
  now(): number;
  /** Logs what waits and gets no answer. */
  warn(text: string): void;
}

/** When a request may be read: in so many milliseconds, after which `end` is called; or never. */
export type RefusedTurn = { readonly waitMs: number; end(): void } | "never";

/** The turns of one thread. */
export class RefusedTurns {
  readonly #options: RefusedTurnsOptions;
  readonly #common: Debt;
  /** Those of which a request was refused. */
  readonly #refused = new BoundedMap<string, Connection>(MAX_CONNECTIONS);
  /** Those of which a request was accepted. */
  readonly #accepted = new BoundedMap<string, true>(MAX_CONNECTIONS);
  #waiting = 0;
  #bytes = 0;
  #late = 0;
  #unanswered = 0;
  #loggedMs = -Infinity;

  constructor(options: RefusedTurnsOptions) {
    this.#options = options;
    const { threads, processors = navigator.hardwareConcurrency } = options;
    this.#common = debtOf(COMMON_PART * processors, COMMON_BURST_MS, threads);
  }

  /**
   * When a request of `connection` may be read.
   * @returns `undefined`: at once.
   */
  begin(connection: string, bytes: number): RefusedTurn | undefined {
    if (bytes < SMALL_BYTES) return undefined;
    const nowMs = this.#options.now();
    const known = this.#refused.get(connection), commonMs = this.#common.waitMs(nowMs);
    if (known === undefined && (commonMs === 0 || bytes < LARGE_BYTES)) return undefined;
    const isProven = this.#accepted.get(connection) ?? false;
    const waitMs = Math.max(known?.own.waitMs(nowMs) ?? 0, isProven ? 0 : commonMs);
    if (waitMs === 0) return undefined;
    const own = known ?? this.#remember(connection);
    this.#log(nowMs);
    if (own.waiting >= MAX_OWN || this.#waiting >= MAX_WAITING || this.#bytes + bytes > MAX_BYTES) {
      this.#unanswered++;
      return "never";
    }
    this.#late++;
    // The part after its wait is not measured: it is counted as those before it.
    this.#use(own, own.costMs, nowMs);
    return { waitMs, end: this.#wait(own, bytes) };
  }

  /** A request of `connection` was accepted. */
  accepted(connection: string): void {
    if (this.#accepted.get(connection) === undefined) this.#accepted.set(connection, true);
  }

  /** A request of `connection` was refused, and has kept the thread busy for so long, in milliseconds. */
  refused(connection: string, ms: number): void {
    const known = this.#refused.get(connection) ?? this.#remember(connection);
    known.costMs = Math.max(ms, known.costMs * 0.9);
    this.#use(known, ms, this.#options.now());
  }

  #wait(own: Connection, bytes: number): () => void {
    own.waiting++;
    this.#waiting++;
    this.#bytes += bytes;
    return () => {
      own.waiting--;
      this.#waiting--;
      this.#bytes -= bytes;
    };
  }

  #use({ own }: Connection, ms: number, nowMs: number): void {
    own.use(ms, nowMs);
    this.#common.use(ms, nowMs);
  }

  #remember(connection: string): Connection {
    const made = { own: debtOf(OWN_PART, OWN_BURST_MS, this.#options.threads), costMs: 0, waiting: 0 };
    this.#refused.set(connection, made);
    return made;
  }

  #log(nowMs: number): void {
    if (nowMs - this.#loggedMs < LOG_MS) return;
    this.#options.warn(
      "Requests that are refused take too much time: further ones of their connections are answered late " +
        `(${this.#late} since the last such line), or not at all (${this.#unanswered})`,
    );
    this.#late = this.#unanswered = 0;
    this.#loggedMs = nowMs;
  }
}

/** A thread's share of a part of the processors, and of a burst. */
function debtOf(processors: number, burstMs: number, threads: number): Debt {
  const share = Math.min(1, processors / threads);
  return new Debt(share, burstMs / threads / share);
}
