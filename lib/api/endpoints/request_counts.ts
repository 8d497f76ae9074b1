/**
 * Counts requests, for `/stats`.
 * @module
 */

import { float, map, type ValueMap } from "#lib/values/value.ts";

/** Open streams of events of one user: each may read the event log by itself. */
const MAX_STREAMS_OF_USER = 100;

/** The counts since the start. */
export class RequestCounts {
  readonly #startedMs = Date.now();
  readonly #byStatus = new Map<number, number>();
  readonly #byRoute: Map<string, number> | undefined;
  #total = 0;
  #open = 0;
  readonly #streamsOf = new Map<string, number>();

  /** @param options.byRoute Whether requests are counted by route as well (`collect_stats`). */
  constructor({ byRoute }: { readonly byRoute: boolean }) {
    this.#byRoute = byRoute ? new Map() : undefined;
  }

  /** Number of requests that are being answered; open streams are not among them. */
  get open(): number {
    return this.#open;
  }

  /**
   * A request begins.
   * @returns Notes its end.
   */
  begin(): (route: string, status: number) => void {
    this.#open++;
    return (route, status) => {
      this.#open--;
      this.#total++;
      this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
      this.#byRoute?.set(route, (this.#byRoute.get(route) ?? 0) + 1);
    };
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
      "Event Streams": [...this.#streamsOf.values()].reduce((sum, open) => sum + open, 0),
      "Responses": Object.fromEntries([...this.#byStatus].map(([status, count]) => [String(status), count])),
    });
    if (this.#byRoute !== undefined) counts.set("Routes", map(Object.fromEntries(this.#byRoute)));
    return map({ "salt-api": counts });
  }
}
