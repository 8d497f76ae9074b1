/**
 * A thread with sockets that is restarted when it dies; the new one continues with the sockets of the old one. A thread
 * counts as dead when it is declared dead: its real thread may hang in a system call and continue later. Therefore the
 * next thread is started only after the old one's lease (lib/runtime/thread_lease.ts) is revoked and free; then the old
 * one's libzmq objects and descriptors are closed. Knows nothing of what the thread does.
 * @module
 */

import { describeError } from "#lib/errors.ts";
import { closeWaitOf } from "./epoll.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { Thread } from "#lib/runtime/thread.ts";
import { revokeLease } from "#lib/runtime/thread_lease.ts";
import { ThreadNotes } from "#lib/runtime/thread_notes.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { closeSocketsOf, successorNotes } from "./context.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/**
 * Wait before a restart, in milliseconds: an error at start-up must not loop without a pause, and running work may
 * still end.
 */
const RESTART_MS = 500;
/** Interval of the checks whether the last turn has ended, in milliseconds. */
const LOOK_MS = 20;
/** Time after which a turn is assumed never to end, in milliseconds. A turn normally takes far less than one. */
const STUCK_MS = 10_000;

/**
 * Processor time that a thread may use without answering, in milliseconds. The longest that an MWorker needs at once is
 * some seconds: for a request of 100 MB.
 */
const MAX_COMPUTING_MS = 10_000;
/** Minimum interval of the questions whether a thread answers, in milliseconds. */
const ASK_MS = 1_000;
/** Maximum time for an answer, in milliseconds; then it is asked again. */
const ANSWER_MS = 3_600_000;

/** Settings of each such thread, besides its own. */
export interface SupervisedInit {
  /** Memory for its notes of sockets. */
  readonly sockets: SharedArrayBuffer;
}

/** Options of a {@linkcode SupervisedThread}. */
export interface SupervisedThreadOptions<Init extends SupervisedInit> {
  /** The name in logs: `MWorker-1`. */
  readonly name: string;
  /** The service's file. */
  readonly url: URL;
  /** The log for the thread's records and for its death. */
  readonly log: Logger;
  /**
   * The thread's own settings, asked for at each start.
   * @param apart Whether the predecessor may still be running with its settings, so that both may share only what is
   * safe under concurrent use.
   */
  init(apart: boolean): Omit<Init, "sockets">;
  /** Whether its death is irrelevant at this time: during start and stop. */
  unwanted(): boolean;
  /**
   * Whether a successor can run while its predecessor hangs in libzmq forever; not possible if it must bind the same
   * addresses. The hanging thread keeps the messages that it had received.
   */
  readonly canOverlap: boolean;
  /** Milliseconds after which a thread is assumed to hang. Default: 10,000. */
  readonly stuckMs?: number;
  /** Processor milliseconds after which a thread that does not answer counts as endless. Default: 10,000. */
  readonly maxComputingMs?: number;
  /** Ends what computes in a thread that is replaced because of it. */
  stopComputing?(): void;
  /** Called with the service's messages. */
  onMessage?(message: unknown): void;
  /** Called when a successor has been started. */
  onSuccessor?(): void;
}

/** A question for a sign of life of a thread. */
interface Question<Init> {
  readonly thread: Thread<Init>;
  /** The time of the question, and the processor time that the thread had used. */
  readonly atMs: number;
  readonly cpuMs: number;
  answered: boolean;
}

/** A thread that is restarted when it dies. */
export class SupervisedThread<Init extends SupervisedInit = SupervisedInit> {
  readonly #options: SupervisedThreadOptions<Init>;
  #notes = new ThreadNotes();
  #thread: Thread<Init>;
  /** Notes of threads that never returned. */
  readonly #stuck = new Set<ThreadNotes>();
  readonly #stuckMs: number;
  readonly #timers = new Set<Timer>();
  #closed = false;
  /** The last question for a sign of life. */
  #asked: Question<Init> | undefined;

  constructor(options: SupervisedThreadOptions<Init>) {
    this.#options = options;
    this.#stuckMs = options.stuckMs ?? STUCK_MS;
    this.#thread = this.#start(false);
  }

  /** The name in logs. */
  get name(): string {
    return this.#options.name;
  }

  /** Resolves when the current thread is running; rejects if it cannot start. */
  get ready(): Promise<void> {
    return this.#thread.ready;
  }

  /** Whether dead or hanging threads have left libzmq objects. */
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

  /**
   * Replaces the thread if it computes and does not come to an end: it has used too much processor time since it was
   * asked for a sign of life. To be called again and again while this process works. Without effect where the system
   * does not report the time of threads.
   */
  look(): void {
    const thread = this.#thread, nowMs = performance.now();
    const cpuMs = thread.task.cpuMs();
    if (this.#closed || this.#options.unwanted() || cpuMs === undefined) return;
    const asked = this.#asked?.thread === thread ? this.#asked : undefined;
    if (asked === undefined || asked.answered) {
      if (asked !== undefined && nowMs < asked.atMs + ASK_MS) return;
      const question: Question<Init> = { thread, atMs: nowMs, cpuMs, answered: false };
      this.#asked = question;
      void thread.describe(ANSWER_MS).then(() => {
        question.answered = true;
      });
      return;
    }
    const max = this.#options.maxComputingMs ?? MAX_COMPUTING_MS;
    if (cpuMs - asked.cpuMs > max) this.#replaceEndless(max);
  }

  #replaceEndless(max: number): void {
    const { name, log, stopComputing } = this.#options;
    log.critical(`${name} computes for more than ${max} ms of a processor, answers nobody, and is replaced`);
    this.#asked = undefined;
    const notes = this.#notes;
    this.#thread.kill();
    stopComputing?.();
    this.#succeed(notes);
  }

  #succeed(dead: ThreadNotes, since = performance.now()): void {
    const { name, log, canOverlap } = this.#options;
    if (revokeLease(dead.lease)) {
      this.#notes = successorNotes(dead);
      this.#clear(dead);
      this.#thread = this.#start(false);
      this.#options.onSuccessor?.();
    } else if (performance.now() < since + this.#stuckMs) {
      this.#later(LOOK_MS, () => this.#succeed(dead, since));
    } else if (canOverlap) {
      log.critical(
        `${name} hangs in libzmq: another thread replaces it, without the messages that it had received`,
      );
      this.#stuck.add(dead);
      this.#notes = new ThreadNotes();
      this.#thread = this.#start(true);
      this.#options.onSuccessor?.();
      this.#clearStuck(dead);
    } else {
      log.critical(`${name} hangs in libzmq, and cannot be replaced: restart this service`);
      this.#later(LOOK_MS, () => this.#succeed(dead));
    }
  }

  #clearStuck(stuck: ThreadNotes): void {
    if (!revokeLease(stuck.lease)) return this.#later(this.#stuckMs, () => this.#clearStuck(stuck));
    this.#stuck.delete(stuck);
    this.#clear(stuck);
  }

  /** Closes the objects of a thread that no longer uses them. */
  #clear(dead: ThreadNotes): void {
    const { name, log } = this.#options;
    closeSocketsOf(dead);
    const stays = (why: string) => log.error(`Descriptors of the ${name} that died stay open: ${why}`);
    closeWaitOf(dead).then((closed) => {
      if (!closed) stays("its wait has not returned");
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

  /**
   * Sends a message to the current thread.
   * @param transfer Ports in it, which are handed over.
   */
  post(message: unknown, transfer?: readonly MessagePort[]): void {
    this.#thread.post(message, transfer);
  }

  /** The current activity of the service. */
  describe(): Promise<string> {
    return this.#thread.describe();
  }

  /** Ends the service, by force when `budget` is over; none is started any more. May be called more than once. */
  async stop(budget?: TimeBudget): Promise<void> {
    this.#closed = true;
    this.#timers.forEach(clearTimeout);
    await this.#thread.stop(budget);
  }
}
