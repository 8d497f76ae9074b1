/**
 * Runs a schedule: one timer for the next moment of all jobs. It sees when the wall clock jumps: the clock of the boot,
 * which nobody can set, says how much time has passed.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { type Moment, msBetween, readMoment } from "#lib/os/moment.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { DueJob, Schedule } from "./schedule.ts";

/** The clocks and the timer of a loop. */
export interface LoopClock {
  now(): Moment;
  /**
   * Calls `run` in `ms` milliseconds.
   * @returns Ends the timer.
   */
  after(ms: number, run: () => void): () => void;
}

/** What a {@linkcode ScheduleLoop} needs. */
export interface LoopParts {
  readonly schedule: Schedule;
  readonly log: Logger;
  /** Starts a job. */
  start(due: DueJob): void;
  /** Called after each turn in which a job ran or was skipped. */
  turned?(): void;
  /** Default: those of this host. */
  readonly clock?: LoopClock;
}

/**
 * The longest sleep, in milliseconds. Timers do not count while the host sleeps, and nobody tells when the clock is
 * set: so a host that wakes up runs what is due within this time.
 */
const LONGEST_SLEEP_MS = 60_000;

/** The clocks run apart by less without a jump, in milliseconds; the clock of the boot has hundredths of a second. */
const JUMP_MS = 1_000;

/** The wall clock, the clock of the boot, and timers of the runtime. */
const HOST_CLOCK: LoopClock = {
  now: readMoment,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Sleeps until the next moment of a schedule, and starts what is due. */
export class ScheduleLoop {
  readonly #parts: LoopParts;
  readonly #clock: LoopClock;
  #last: Moment | undefined;
  #stopTimer = () => {};
  #closed = false;
  /** How often the timer has rung. */
  #turns = 0;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? HOST_CLOCK;
  }

  /** Turns so far. */
  get turns(): number {
    return this.#turns;
  }

  /** The present of its clock, in milliseconds since the epoch. */
  get nowMs(): number {
    return this.#clock.now().wallMs;
  }

  /** Takes a turn now, and sets the timer for the next; to be called after each change of the schedule. */
  turn(): void {
    if (this.#closed) return;
    this.#stopTimer();
    this.#turns++;
    const { schedule, log } = this.#parts;
    const now = this.#clock.now();
    this.#noticeJump(now);
    for (const due of schedule.turn(now.wallMs)) {
      try {
        this.#parts.start(due);
      } catch (error) {
        log.error(`The scheduled job ${due.job.name} could not be started: ${messageOf(error)}`);
      }
    }
    this.#parts.turned?.();
    const at = schedule.wakeAt(now.wallMs);
    if (at === undefined) return;
    const ms = Math.min(Math.max(at - now.wallMs, 1), LONGEST_SLEEP_MS);
    this.#stopTimer = this.#clock.after(ms, () => this.turn());
  }

  #noticeJump(now: Moment): void {
    const last = this.#last;
    this.#last = now;
    if (last?.boot === undefined || last.boot.id !== now.boot?.id) return;
    const jumpMs = now.wallMs - last.wallMs - msBetween(last, now);
    if (Math.abs(jumpMs) <= JUMP_MS) {
      // Small steps add up: the sum is compared, not each.
      this.#last = { wallMs: now.wallMs - jumpMs, boot: now.boot };
      return;
    }
    this.#parts.log.warning(
      `The clock was set by ${Math.round(jumpMs / 1000)} seconds; intervals of the schedule go on`,
    );
    this.#parts.schedule.jumped(now.wallMs, jumpMs);
  }

  /** Ends the loop; jobs that run stay. */
  close(): void {
    this.#closed = true;
    this.#stopTimer();
  }
}
