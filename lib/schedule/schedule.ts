/**
 * A schedule: the jobs of a host from its configuration and its pillar, their states, and which of them are due. The
 * clock is an argument; running a job is the caller's.
 * Source: Salt 3008.3 `salt/utils/schedule.py` (_get_schedule, eval, add_job and the others), `salt/minion.py`
 * pillar_schedule_refresh.
 * @module
 */

import { equals, isMap, str, typeName, type Value, type ValueMap } from "#lib/values/value.ts";
import {
  entryError,
  type EntrySetting,
  isSetting,
  looksLikeJob,
  readEntry,
  readSettings,
  type ScheduledJob,
  type ScheduleSettings,
} from "./entry.ts";
import {
  type DueRun,
  type JobState,
  newState,
  planAgain,
  planNext,
  setBack,
  shiftState,
  takeTurn,
  type TurnSetting,
  wakeAt,
} from "./turns.ts";

/** One entry of a schedule with its state. */
export interface ScheduleItem {
  readonly name: string;
  /** What is written. */
  readonly entry: Value;
  /** The job; `undefined`: the entry is broken. */
  readonly job: ScheduledJob | undefined;
  /** Why it is broken. */
  readonly error: string | undefined;
  readonly state: JobState;
  /** Where it comes from: the configuration and what was added, or pillar. */
  readonly source: "opts" | "pillar";
}

/** A job, and the runs of it that are to be started now. */
export interface DueJob {
  readonly job: ScheduledJob;
  readonly run: DueRun;
}

/** What a schedule needs of its host. */
export interface ScheduleHost {
  readonly id: string;
  /** A date that pillar or grains name in `whens`. */
  whens(name: Value): Value | undefined;
  /** In [0, 1). */
  random(): number;
  /** How many jobs of this title are running. */
  running(title: string): number;
  /** Called once for each broken entry, when it is new or has changed. */
  report(name: string, error: string): void;
}

/** The schedule of a host. */
export class Schedule {
  readonly #host: ScheduleHost;
  #own: ValueMap = new Map();
  #pillar: ValueMap = new Map();
  #items: ReadonlyMap<string, ScheduleItem> = new Map();
  #settings: ScheduleSettings = readSettings(new Map());

  constructor(host: ScheduleHost) {
    this.#host = host;
  }

  /** The entries by name; broken ones are among them. */
  get items(): ReadonlyMap<string, ScheduleItem> {
    return this.#items;
  }

  get settings(): ScheduleSettings {
    return this.#settings;
  }

  /** The entries of the configuration, and those added since; with the settings. */
  get own(): ValueMap {
    return this.#own;
  }

  /** The entries of pillar, with its settings. */
  get pillar(): ValueMap {
    return this.#pillar;
  }

  /** Replaces the entries of the configuration. Those that stay as they are keep their state. */
  setOwn(schedule: Value, nowMs: number): void {
    this.#own = this.#mapOf(schedule, "the configuration");
    this.#read(nowMs);
  }

  /** Replaces the entries of pillar. Those that stay as they are keep their state. */
  setPillar(schedule: Value, nowMs: number): void {
    this.#pillar = this.#mapOf(schedule, "pillar");
    this.#read(nowMs);
  }

  #mapOf(schedule: Value, where: string): ValueMap {
    if (isMap(schedule)) return new Map(schedule);
    if (schedule !== null) {
      this.#host.report("", `The schedule in ${where} must be of type dict, not ${typeName(schedule)}`);
    }
    return new Map();
  }

  #read(nowMs: number): void {
    const all: ValueMap = new Map([...this.#pillar, ...this.#own]);
    const settings = readSettings(all);
    const same = sameSettings(settings, this.#settings);
    this.#settings = settings;
    const setting: EntrySetting = { id: this.#host.id, whens: (name) => this.#host.whens(name), nowMs };
    const items = new Map<string, ScheduleItem>();
    for (const [key, entry] of all) {
      const name = str(key);
      if (isSetting(name) && !looksLikeJob(entry)) continue;
      const old = this.#items.get(name);
      const source = this.#own.has(key) ? "opts" : "pillar";
      const isSame = old !== undefined && equals(old.entry, entry);
      if (isSame && same && old.job !== undefined && !(isMap(entry) && entry.has("when"))) {
        items.set(name, { ...old, source });
        continue;
      }
      const item = this.#item({ name, entry, source, old: isSame ? old : undefined }, setting);
      if (item.job !== undefined) planAgain(item.job, item.state, { isSplayed: same });
      items.set(name, item);
    }
    this.#items = items;
  }

  #item(
    { name, entry, source, old }: Pick<ScheduleItem, "name" | "entry" | "source"> & {
      readonly old: ScheduleItem | undefined;
    },
    setting: EntrySetting,
  ): ScheduleItem {
    try {
      const job = readEntry(name, entry, this.#settings, setting);
      const state = old?.job === undefined ? newState(job, setting.nowMs) : old.state;
      return { name, entry, job, error: undefined, state, source };
    } catch (error) {
      const reason = entryError(error);
      if (old?.error !== reason) this.#host.report(name, reason);
      return { name, entry, job: undefined, error: reason, state: old?.state ?? brokenState(setting.nowMs), source };
    }
  }

  #setting(nowMs: number): TurnSetting {
    return {
      nowMs,
      settings: this.#settings,
      random: () => this.#host.random(),
      isFull: (job) => this.#host.running(job.title) >= job.maxrunning,
    };
  }

  /** Brings all jobs to the present, and returns those that are due, in their order; each dry run has ended. */
  turn(nowMs: number): DueJob[] {
    const setting = this.#setting(nowMs);
    return [...this.#items.values()].flatMap(({ job, state }) =>
      job === undefined ? [] : takeTurn(job, state, setting).filter(() => !job.dryRun).map((run) => ({ job, run }))
    );
  }

  /** When {@linkcode turn} must be called after the turn of now; `undefined`: nothing will be due. */
  wakeAt(nowMs: number): number | undefined {
    const setting = this.#setting(nowMs);
    let first: number | undefined;
    for (const { job, state } of this.#items.values()) {
      const at = job === undefined ? undefined : wakeAt(job, state, setting);
      if (at !== undefined && (first === undefined || at < first)) first = at;
    }
    return first;
  }

  /** The next moment of a job, whether it may run then or not; `undefined`: there is none. */
  nextMoment(item: ScheduleItem): number | undefined {
    return item.job === undefined ? undefined : planNext(item.job, item.state, () => this.#host.random());
  }

  /** Tells all jobs that the wall clock has jumped by this much. */
  jumped(nowMs: number, jumpMs: number): void {
    for (const { job, state } of this.#items.values()) {
      if (job === undefined) continue;
      shiftState(job, state, jumpMs);
      if (jumpMs < 0) setBack(job, state, { nowMs, jumpMs });
    }
  }
}

function sameSettings(a: ScheduleSettings, b: ScheduleSettings): boolean {
  return equals(a.splay, b.splay) && equals(a.skipRange, b.skipRange);
}

/** The state of an entry that cannot run. */
function brokenState(nowMs: number): JobState {
  return {
    anchor: nowMs,
    cursor: nowMs,
    planned: undefined,
    delay: 0,
    startPending: false,
    explicit: [],
    skips: [],
    lastRun: undefined,
    skipped: undefined,
    over: true,
  };
}
