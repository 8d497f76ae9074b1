/**
 * Decides which minions a command still waits for, and when it asks them. Pure: has no clock and no sockets. The
 * command waits for a minion that acknowledges as long as it is connected, and never asks it. Any other minion that is
 * silent for the time-out is given up at once if the master knows that it is not connected; else it is asked whether it
 * still runs the job, and given up if it says no or does not answer.
 * Source: docs/protocol.md "How a client waits".
 * @module
 */

/** The watch over one job. Times are milliseconds of the caller's clock. */
export class JobWatch {
  readonly #timeoutMs: number;
  /** The deadline of each minion that may still answer. */
  readonly #deadlines: Map<string, number>;
  /**
   * A lower bound of all deadlines. Checking all of them after each of thousands of returns would cost more than the
   * returns.
   */
  #earliest: number;
  readonly #unreturned: Set<string>;
  /** All that were waited for. */
  readonly #known: Set<string>;
  readonly #acknowledged = new Set<string>();
  /** Those of them whose return may have been among events that are missing. */
  readonly #doubtful = new Set<string>();
  /** Those that are not connected, or have not been seen since events are missing. */
  readonly #unseen = new Set<string>();
  /** Those that wait for a place, before they get the job (`running` of `flow`). */
  readonly #held = new Set<string>();
  #findJob: { readonly unanswered: Set<string>; readonly deadline: number } | undefined;

  /** Begins to wait for `ids`. */
  constructor(ids: readonly string[], options: { readonly timeoutMs: number; readonly now: number }) {
    this.#timeoutMs = options.timeoutMs;
    this.#earliest = options.now + options.timeoutMs;
    this.#deadlines = new Map(ids.map((id) => [id, this.#earliest]));
    this.#unreturned = new Set(ids);
    this.#known = new Set(ids);
  }

  /** The job is for these minions too: a syndic has named them. */
  add(ids: readonly string[], now: number): void {
    for (const id of ids) {
      if (this.#known.has(id)) continue;
      this.#known.add(id);
      this.#unreturned.add(id);
      this.#wait(id, now + this.#timeoutMs);
    }
  }

  /** Whether there was ever a minion to wait for. */
  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** Those that have not returned. */
  get unreturned(): ReadonlySet<string> {
    return this.#unreturned;
  }

  /** Whether the wait is over: no minion is waited for. */
  get done(): boolean {
    return this.#deadlines.size === 0;
  }

  /** The latest time of the next check if no event comes before: while minions are asked, no others are. */
  get nextAt(): number {
    return this.#findJob?.deadline ?? this.#earliest;
  }

  #wait(id: string, deadline: number): void {
    this.#deadlines.set(id, deadline);
    this.#earliest = Math.min(this.#earliest, deadline);
  }

  /**
   * Minion `id` returned.
   * @returns Whether this is its first return.
   */
  returned(id: string): boolean {
    this.#deadlines.delete(id);
    this.#held.delete(id);
    this.#findJob?.unanswered.delete(id);
    return this.#unreturned.delete(id);
  }

  /** Minion `id` has the job. Nobody may say that it is gone if it was not seen since it said so. */
  acknowledged(id: string, now: number): void {
    if (!this.#unreturned.has(id)) return;
    this.#acknowledged.add(id);
    this.#held.delete(id);
    this.#doubtful.delete(id);
    this.#wait(id, this.#unseen.has(id) ? now + this.#timeoutMs : Infinity);
    this.#findJob?.unanswered.delete(id);
  }

  /** Minions wait for their turn: the time-out does not run. */
  held(ids: readonly string[]): void {
    for (const id of ids) {
      if (!this.#unreturned.has(id) || this.#acknowledged.has(id)) continue;
      this.#held.add(id);
      this.#wait(id, Infinity);
      this.#findJob?.unanswered.delete(id);
    }
  }

  /** Minions get the job now: the time-out begins. */
  released(ids: readonly string[], now: number): void {
    for (const id of ids) if (this.#held.delete(id)) this.#wait(id, now + this.#timeoutMs);
  }

  /** Minion `id` connected or disconnected. If it has the job and disconnected, it is given up after the time-out. */
  presence(id: string, present: boolean, now: number): void {
    if (present) this.#unseen.delete(id);
    else if (this.#unreturned.has(id)) this.#unseen.add(id);
    if (this.#held.has(id)) this.#wait(id, present ? Infinity : now + this.#timeoutMs);
    if (this.#acknowledged.has(id) && this.#deadlines.has(id)) {
      this.#wait(id, present && !this.#doubtful.has(id) ? Infinity : now + this.#timeoutMs);
    }
  }

  /**
   * Events are missing, as the master was gone: minions that have the job get the time-out again, and are asked after
   * it, because their returns may have been among those events.
   */
  eventsLost(now: number): void {
    this.released([...this.#held], now);
    for (const id of this.#unreturned) this.#unseen.add(id);
    for (const id of this.#acknowledged) {
      if (!this.#deadlines.has(id)) continue;
      this.#doubtful.add(id);
      if (this.#deadlines.get(id) === Infinity) this.presence(id, false, now);
    }
  }

  /** The minions to ask now whether they run the job; none while a query is running. */
  toAsk(now: number): string[] {
    if (this.#findJob !== undefined || now < this.#earliest) return [];
    this.#look();
    return [...this.#deadlines].filter(([, deadline]) => deadline <= now).map(([id]) => id);
  }

  /**
   * Gives up those of `ids` that are in `gone` and have not acknowledged the job: they cannot answer a query. A
   * minion that has the job may reconnect before the query ends.
   * @returns Those that were given up.
   */
  giveUp(ids: readonly string[], gone: { has(id: string): boolean }): string[] {
    const absent = ids.filter((id) => gone.has(id) && !this.#acknowledged.has(id));
    for (const id of absent) this.#deadlines.delete(id);
    this.#look();
    return absent;
  }

  /** `ids` cannot be asked: those in `over` are given up, and the others have the time-out again. */
  unasked(ids: readonly string[], over: { has(id: string): boolean }, now: number): void {
    for (const id of ids) {
      if (over.has(id)) this.#deadlines.delete(id);
      else this.#wait(id, now + this.#timeoutMs);
    }
    this.#look();
  }

  /** `ids` were queried, and must answer by `deadline`. */
  queried(ids: readonly string[], deadline: number): void {
    this.#findJob = { unanswered: new Set(ids), deadline };
    // From now on the query's deadline replaces theirs.
    for (const id of ids) this.#wait(id, Infinity);
    this.#look();
  }

  #look(): void {
    this.#earliest = this.#deadlines.values().reduce((earliest, deadline) => Math.min(earliest, deadline), Infinity);
  }

  /** Minion `id` answered. */
  answered(id: string, running: boolean, now: number): void {
    if (!this.#findJob?.unanswered.delete(id)) return;
    if (running) this.#wait(id, now + this.#timeoutMs);
    else this.#deadlines.delete(id);
  }

  /** Gives up minions that have not answered the query in time. */
  tick(now: number): void {
    const findJob = this.#findJob;
    if (findJob === undefined || (findJob.unanswered.size > 0 && now < findJob.deadline)) return;
    for (const id of findJob.unanswered) this.#deadlines.delete(id);
    this.#findJob = undefined;
  }
}
