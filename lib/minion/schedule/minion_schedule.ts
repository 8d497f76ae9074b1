/**
 * The schedule of a running minion: its places, its loop, and the jobs that it has started.
 * Source: Salt 3008.3 `salt/minion.py` setup_scheduler, `salt/utils/schedule.py`.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { placeOfEntry } from "#lib/config/entry_places.ts";
import type { ScheduledJob } from "#lib/schedule/entry.ts";
import { type DueJob, Schedule } from "#lib/schedule/schedule.ts";
import type { LoopClock } from "#lib/schedule/loop_clock.ts";
import { ScheduleLoop } from "#lib/schedule/schedule_loop.ts";
import { newState } from "#lib/schedule/turns.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { ScheduleHistory } from "./history.ts";
import { fillsMine, internalJobs, MINE_JOB } from "./internal_jobs.ts";
import {
  checkSavable,
  joinSchedules,
  readSavedSchedule,
  type SavedSchedule,
  savedSchedulePath,
  writeSavedSchedule,
} from "#lib/schedule/saved_schedule.ts";
import { scheduledLoad } from "./scheduled_load.ts";

/** What a minion's schedule needs of the minion. */
export interface MinionScheduleParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Its grains and pillar of now. */
  data(): { readonly grains: ValueMap; readonly pillar: ValueMap };
  /**
   * Runs a job.
   * @param isNoted Whether it has a proc file.
   * @param ended Called when it has ended.
   */
  begin(load: ValueMap, isNoted: boolean, ended: () => void): void;
  /** Default: those of the host. */
  readonly clock?: LoopClock;
}

/** Runs of one job that wait for the one before (`missed: run`). */
interface Waiting {
  readonly due: DueJob;
  left: number;
}

/** The schedule of one minion. */
export class MinionSchedule {
  readonly #parts: MinionScheduleParts;
  readonly schedule: Schedule;
  readonly #loop: ScheduleLoop;
  readonly #path: string;
  readonly #configured: ValueMap;
  readonly #saved: SavedSchedule;
  readonly #running = new Map<string, number>();
  readonly #history: ScheduleHistory;
  #isStarted = false;

  constructor(parts: MinionScheduleParts) {
    const { opts, log } = this.#parts = parts;
    this.#history = new ScheduleHistory(`${opts.cachedir}/schedule`, log);
    this.schedule = new Schedule({
      id: opts.id,
      whens: (name) => this.#whens(name),
      random: Math.random,
      running: (title) => this.#running.get(title) ?? 0,
      report: (name, error) => this.#report(name, error),
    });
    this.#loop = new ScheduleLoop({
      schedule: this.schedule,
      log,
      clock: parts.clock,
      start: (due) => this.#start(due),
      turned: () => this.#history.write(this.schedule),
    });
    this.#path = savedSchedulePath(opts);
    this.#configured = isMap(opts.schedule) ? opts.schedule : new Map();
    const now = this.#loop.nowMs;
    if (!isMap(opts.schedule) && opts.schedule !== null) this.schedule.setOwn(opts.schedule, now);
    const saved = this.#saved = readSavedSchedule(this.#path, (text) => log.error(`Schedule: ${text}`));
    const own = joinSchedules(this.#configured, saved, (name) => this.#reportBoth(name));
    this.schedule.setOwn(new Map([...internalJobs(opts), ...own]), now);
  }

  /** The present of its clock, in milliseconds since the epoch. */
  get nowMs(): number {
    return this.#loop.nowMs;
  }

  /** Begins to run jobs: the intervals count from now. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const now = this.#loop.nowMs;
    for (const { job, state } of this.schedule.items.values()) {
      if (job !== undefined) Object.assign(state, newState(job, now));
    }
    this.#history.restore(this.schedule, now);
    this.#loop.turn();
  }

  /** The minion has another pillar: its jobs that did not change keep their next time. */
  setPillar(pillar: ValueMap): void {
    this.schedule.setPillar(pillar.get("schedule") ?? null, this.#loop.nowMs);
    this.#changed();
  }

  /** Replaces the jobs that are not pillar's. */
  setOwn(own: ValueMap): void {
    this.schedule.setOwn(own, this.#loop.nowMs);
    this.#changed();
  }

  #changed(): void {
    if (this.#isStarted) this.#loop.turn();
  }

  /** Brings the states of jobs to the present, so that they can be shown. */
  look(): void {
    this.#changed();
  }

  /**
   * Checks, before a change, that {@linkcode save} loses no jobs of a file that could not be read.
   * @throws {CommandError}
   */
  checkSavable(): void {
    checkSavable(this.#path, this.#saved);
  }

  /**
   * Writes the jobs that are not pillar's to `_schedule.conf`.
   * @throws {Error} If that is not possible: the change would be lost at the next start.
   */
  save(): void {
    this.checkSavable();
    writeSavedSchedule(this.#path, this.schedule.own, this.#configured);
  }

  /**
   * Starts a job now, whatever its time.
   * @returns Whether it was started: not if too many of it are running.
   */
  runNow(job: ScheduledJob): boolean {
    const now = this.#loop.nowMs;
    if (job.jidInclude && (this.#running.get(job.title) ?? 0) >= job.maxrunning) return false;
    this.#start({ job, run: { moment: now, why: "explicit", times: 1, missed: 0, instead: undefined } });
    return true;
  }

  /** Where a job is written: file and line, or pillar; `undefined`: it was added while the minion ran. */
  placeOf(name: string): string | undefined {
    if (!this.schedule.own.has(name) && this.schedule.pillar.has(name)) return "pillar";
    try {
      return placeOfEntry(this.#parts.opts, "schedule", name);
    } catch (error) {
      this.#parts.log.debug(`The files of the schedule cannot be read again: ${messageOf(error)}`);
      return undefined;
    }
  }

  #start(due: DueJob): void {
    if (due.job.name === MINE_JOB && !fillsMine(this.#parts.opts, this.#parts.data().pillar)) return;
    this.#startNext({ due, left: due.run.times });
  }

  #startNext(waiting: Waiting): void {
    const { due } = waiting, { job, run } = due, { title } = job;
    waiting.left--;
    const late = run.missed > 0
      ? ` (runtime missed by ${Math.round((this.#loop.nowMs - run.moment) / 1000)} seconds)`
      : "";
    this.#parts.log.info(`Running scheduled job: ${title}${late}`);
    this.#running.set(title, (this.#running.get(title) ?? 0) + 1);
    const { opts } = this.#parts;
    const load = scheduledLoad(due, {
      id: opts.id,
      returners: returnersOf(opts.schedule_returner),
      nowMs: this.#loop.nowMs,
    });
    this.#parts.begin(load, job.jidInclude, () => {
      const left = (this.#running.get(title) ?? 1) - 1;
      if (left > 0) this.#running.set(title, left);
      else this.#running.delete(title);
      if (waiting.left > 0) this.#startNext(waiting);
    });
  }

  /** A date that pillar or grains name. */
  #whens(name: Value): Value | undefined {
    const { grains, pillar } = this.#parts.data();
    for (const source of [pillar, grains]) {
      const whens = source.get("whens");
      if (isMap(whens) && whens.has(name)) return whens.get(name);
    }
    return undefined;
  }

  #report(name: string, error: string): void {
    const place = this.placeOf(name);
    const what = name === "" ? "schedule" : `schedule, job ${name}`;
    this.#parts.log.error(`${place === undefined ? "" : `${place}: `}${what}: ${error}`);
  }

  #reportBoth(name: string): void {
    this.#parts.log.warning(
      `The scheduled job ${name} is another in ${this.#path} than in the configuration, and the former counts: ` +
        "it was changed while the minion ran. Delete it there, or with schedule.delete, to use the configuration's",
    );
  }

  /** Ends it; the jobs that run stay. */
  close(): void {
    this.#loop.close();
  }
}

function returnersOf(value: Value): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((item) => item !== null && item !== "").map(str);
}
