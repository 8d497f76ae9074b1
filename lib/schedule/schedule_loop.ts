/**
 * Runs a schedule: one timer for the next moment of all jobs. It sees when the wall clock jumps: the clock of the boot,
 * which nobody can set, says how much time has passed.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { type Moment, msBetween } from "#lib/os/moment.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { hostClock, type LoopClock } from "./loop_clock.ts";
import type { DueJob, Schedule } from "./schedule.ts";

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

/** The clocks run apart by less without a jump, in milliseconds; the clock of the boot has hundredths of a second. */
const JUMP_MS = 1_000;

/** Sleeps until the next moment of a schedule, and starts what is due. */
export class ScheduleLoop {
  readonly #parts: LoopParts;
  readonly #clock: LoopClock;
  #last: Moment | undefined;
  #closed = false;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? hostClock();
  }

  /** The present of its clock, in milliseconds since the epoch. */
  get nowMs(): number {
    return this.#clock.now().wallMs;
  }

  /** Takes a turn now, and sets the timer for the next; to be called after each change of the schedule. */
  turn(): void {
    if (this.#closed) return;
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
    const ms = Math.min(Math.max(at - now.wallMs, 1), this.#clock.longestSleepMs);
    this.#clock.after(ms, () => this.turn());
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
    this.#clock.close();
  }
}
