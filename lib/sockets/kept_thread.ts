/**
 * A thread with sockets that is started again when it dies, and then goes on with what the one before it had.
 *
 * "Dead" is what it is declared: the runtime's own thread may hang in a system call, and go on later. So the next one is not
 * started before the lease of the one before it (lib/process/thread_lease.ts) is revoked and free; what that has in libzmq, and its
 * descriptors, are closed then. Knows nothing of what the thread does.
 * @module
 */

import { closeWaitOf } from "./epoll.ts";
import type { Logger } from "../process/log.ts";
import { describeError, Thread } from "../process/thread.ts";
import { revokeLease } from "../process/thread_lease.ts";
import { ThreadNotes } from "../process/thread_notes.ts";
import type { TimeBudget } from "../os/time_budget.ts";
import { closeSocketsOf, successorNotes } from "./context.ts";

/** Wait before a thread that died is started again, in milliseconds: a fault at start-up must not spin, and what it is at may end well. */
const RESTART_MS = 500;
/** How often the end of its last turn is looked for after that, in milliseconds. */
const LOOK_MS = 20;
/** A turn takes far less than a millisecond. Of one that takes longer than this, the end may never come; in milliseconds. */
const STUCK_MS = 10_000;

/** What each of these threads starts with, beside its own settings. */
export interface KeptInit {
  /** Where it notes its sockets. */
  readonly sockets: SharedArrayBuffer;
}

/** How such a thread is started. */
export interface KeptThreadOptions<Init extends KeptInit> {
  /** As it appears in logs: `MWorker-1`. */
  readonly name: string;
  /** The file of the service. */
  readonly url: URL;
  /** Where the thread's log ends, and what is said of its death. */
  readonly log: Logger;
  /**
   * Its settings, asked for at each start.
   * @param apart Whether the thread before it may still be at work with its own, so that they must share none but what they take turns at.
   */
  init(apart: boolean): Omit<Init, "sockets">;
  /** Whether its death concerns nobody yet, or any more. */
  unwanted(): boolean;
  /**
   * Whether another can do its work beside one that stays in a call of libzmq's for ever; it cannot where it would have to bind the
   * same addresses. The one that stays goes on with what had come for it by then, which nobody else gets.
   */
  readonly canStandBeside: boolean;
  /** Milliseconds after which that is assumed. Default: 10,000. */
  readonly stuckMs?: number;
  /** Called with the service's own messages. */
  onMessage?(message: unknown): void;
}

/** The thread, whichever it is now. */
export class KeptThread<Init extends KeptInit = KeptInit> {
  readonly #options: KeptThreadOptions<Init>;
  #notes = new ThreadNotes();
  #thread: Thread<Init>;
  /** Notes of those that do not come back. */
  readonly #stuck = new Set<ThreadNotes>();
  readonly #stuckMs: number;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #closed = false;

  /** Starts the thread. */
  constructor(options: KeptThreadOptions<Init>) {
    this.#options = options;
    this.#stuckMs = options.stuckMs ?? STUCK_MS;
    this.#thread = this.#start(false);
  }

  /** As it appears in logs. */
  get name(): string {
    return this.#options.name;
  }

  /** Resolves when the thread that there is now serves; rejects if it cannot. */
  get ready(): Promise<void> {
    return this.#thread.ready;
  }

  /** Whether threads that are dead, or did not end, have left anything in libzmq. */
  get hasSockets(): boolean {
    return [this.#notes, ...this.#stuck].some(({ hasSockets }) => hasSockets);
  }

  #start(apart: boolean): Thread<Init> {
    const { name, url, log, onMessage, init } = this.#options;
    const notes = this.#notes;
    return new Thread<Init>({
      name,
      url,
      log,
      init: { ...init(apart), sockets: notes.memory } as Init,
      onDeath: (reason) => {
        if (this.#options.unwanted()) return;
        log.critical(`${name} died and is started again: ${reason}`);
        this.#later(RESTART_MS, () => this.#succeed(notes));
      },
      ...onMessage && { onMessage },
    });
  }

  #succeed(dead: ThreadNotes, since = performance.now()): void {
    const { name, log, canStandBeside } = this.#options;
    if (revokeLease(dead.lease)) {
      this.#notes = successorNotes(dead);
      this.#clear(dead);
      this.#thread = this.#start(false);
    } else if (performance.now() < since + this.#stuckMs) {
      this.#later(LOOK_MS, () => this.#succeed(dead, since));
    } else if (canStandBeside) {
      log.critical(
        `${name} does not come back from libzmq: another one starts beside it, without what had come for it`,
      );
      this.#stuck.add(dead);
      this.#notes = new ThreadNotes();
      this.#thread = this.#start(true);
      this.#clearStuck(dead);
    } else {
      log.critical(`${name} does not come back from libzmq, and no other can take its place: restart this service`);
      this.#later(LOOK_MS, () => this.#succeed(dead));
    }
  }

  #clearStuck(stuck: ThreadNotes): void {
    if (!revokeLease(stuck.lease)) return this.#later(this.#stuckMs, () => this.#clearStuck(stuck));
    this.#stuck.delete(stuck);
    this.#clear(stuck);
  }

  /** Closes what a thread had that touches nothing any more. */
  #clear(dead: ThreadNotes): void {
    const { name, log } = this.#options;
    closeSocketsOf(dead);
    const stays = (why: string) => log.error(`Descriptors of the ${name} that died stay open: ${why}`);
    closeWaitOf(dead).then((closed) => {
      if (!closed) stays("its wait has not come back");
    }, (error) => stays(describeError(error)));
  }

  #later(ms: number, run: () => void): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
  }

  /** Sends a message of the service's own to the thread that there is now. */
  post(message: unknown): void {
    this.#thread.post(message);
  }

  /** What the service is doing. */
  describe(): Promise<string> {
    return this.#thread.describe();
  }

  /** Ends the service, by force when `budget` is over; none is started any more. Twice is fine. */
  async stop(budget?: TimeBudget): Promise<void> {
    this.#closed = true;
    this.#timers.forEach(clearTimeout);
    await this.#thread.stop(budget);
  }
}
