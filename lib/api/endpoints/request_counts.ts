/**
 * Counts requests, for `/stats` and `/metrics`.
 * @module
 */

import { float, map, type ValueMap } from "#lib/values/value.ts";

/** Open streams of events of one user: each may read the event log by itself. */
const MAX_STREAMS_OF_USER = 100;
/** The result of a log-in; `limited`: refused without a check, after too many failures. */
export type LogInResult = "done" | "refused" | "limited";

/** The upper ends of the buckets of durations, in seconds. */
export const BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The requests of one route, method and status. */
export interface RouteCounts {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  count: number;
  seconds: number;
  /** The number in each of {@linkcode BUCKETS}, without those of smaller ones. */
  readonly buckets: number[];
}

/** A request that has been answered. */
export interface AnsweredRequest {
  /** The path of the table; empty: none. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
}

/** The counts since the start. */
export class RequestCounts {
  readonly #startedMs = Date.now();
  readonly #byStatus = new Map<number, number>();
  readonly #byPath: Map<string, number> | undefined;
  readonly #byRoute = new Map<string, RouteCounts>();
  readonly #logIns = new Map<LogInResult, number>();
  #total = 0;
  #open = 0;
  readonly #streamsOf = new Map<string, number>();

  /** @param options.byRoute Whether `/stats` counts requests by path as well (`collect_stats`). */
  constructor({ byRoute }: { readonly byRoute: boolean }) {
    this.#byPath = byRoute ? new Map() : undefined;
  }

  /** Number of requests that are being answered; open streams are not among them. */
  get open(): number {
    return this.#open;
  }

  /** Number of open streams of events. */
  get streams(): number {
    return [...this.#streamsOf.values()].reduce((sum, open) => sum + open, 0);
  }

  /** When counting began, in seconds since the epoch. */
  get startedS(): number {
    return this.#startedMs / 1000;
  }

  /** The requests by route, method and status. */
  routes(): readonly RouteCounts[] {
    return [...this.#byRoute.values()];
  }

  /** The log-ins by result. */
  logIns(): ReadonlyMap<LogInResult, number> {
    return this.#logIns;
  }

  /** Notes a log-in. */
  logIn(result: LogInResult): void {
    this.#logIns.set(result, (this.#logIns.get(result) ?? 0) + 1);
  }

  /**
   * A request begins.
   * @returns Notes its end.
   */
  begin(): (answered: AnsweredRequest) => void {
    this.#open++;
    const beganMs = performance.now();
    return (answered) => {
      const { route, status } = answered;
      this.#open--;
      this.#total++;
      this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
      // The beginning of the route, as there are few; paths are chosen by whoever asks.
      const path = route === "" ? "other" : route.split("/", 2).join("/");
      this.#byPath?.set(path, (this.#byPath.get(path) ?? 0) + 1);
      this.#note(answered, (performance.now() - beganMs) / 1000);
    };
  }

  /** The routes are those of the table, and methods those of HTTP: their number is bounded. */
  #note({ route, method, status }: AnsweredRequest, seconds: number): void {
    const key = `${method} ${route} ${status}`;
    const counts = this.#byRoute.get(key) ??
      { route, method, status, count: 0, seconds: 0, buckets: BUCKETS.map(() => 0) };
    this.#byRoute.set(key, counts);
    counts.count++;
    counts.seconds += seconds;
    const bucket = BUCKETS.findIndex((end) => seconds <= end);
    if (bucket >= 0) counts.buckets[bucket]++;
  }

  /**
   * A stream of events opens.
   * @returns Notes its end; `undefined` if its user has as many as one may have.
   */
  openStream(user: string): (() => void) | undefined {
    const open = this.#streamsOf.get(user) ?? 0;
    if (open >= MAX_STREAMS_OF_USER) return undefined;
    this.#streamsOf.set(user, open + 1);
    return () => {
      const left = (this.#streamsOf.get(user) ?? 1) - 1;
      if (left > 0) this.#streamsOf.set(user, left);
      else this.#streamsOf.delete(user);
    };
  }

  /** The counts as `/stats` shows them. */
  toMap(): ValueMap {
    const counts = map({
      "Start Time": float(this.#startedMs / 1000),
      "Uptime": float((Date.now() - this.#startedMs) / 1000),
      "Total Requests": this.#total,
      "Current Requests": this.#open,
      "Event Streams": this.streams,
      "Responses": Object.fromEntries([...this.#byStatus].map(([status, count]) => [String(status), count])),
    });
    if (this.#byPath !== undefined) counts.set("Routes", map(Object.fromEntries(this.#byPath)));
    return map({ "salt-api": counts });
  }
}
