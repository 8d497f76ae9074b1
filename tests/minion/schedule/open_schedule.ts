/**
 * A minion's schedule without its minion: its clock is the test's, and its jobs end as they begin.
 * @module
 */

import { loadMinionConfig } from "#lib/config/load.ts";
import { MinionSchedule } from "#lib/minion/schedule/minion_schedule.ts";
import { SCHEDULED } from "#lib/protocol/own_job.ts";
import { type Logger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import type { LoopClock } from "#lib/schedule/loop_clock.ts";
import type { Moment } from "#lib/os/moment.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** The time at which the tests begin. */
export const START = Date.parse("2026-11-23T00:00:30Z");

/** A clock whose timer rings only when the test lets time pass. */
export class HandClock implements LoopClock {
  readonly longestSleepMs = Infinity;
  #timer: (() => void) | undefined;

  constructor(public wallMs: number, readonly bootId: string) {}

  now(): Moment {
    return { wallMs: this.wallMs, boot: { id: this.bootId, ms: this.wallMs - START + 1_000_000 } };
  }

  after(_ms: number, run: () => void): void {
    this.#timer = run;
  }

  close(): void {
    this.#timer = undefined;
  }

  pass(ms: number): void {
    this.wallMs += ms;
    this.#timer?.();
  }
}

/** A run that was started. */
export interface StartedRun {
  readonly name: string;
  readonly missed: Value;
  readonly planned: Value;
  /** What its return is made with. */
  readonly about: Value;
  /** Ends it, if the schedule was opened with `endsByHand`. */
  end(): void;
}

/** Opens the schedule of a minion whose files are in `root`. It is not started. */
export function openSchedule(
  root: string,
  { clock, config, log = SILENT_LOGGER, pillar = new Map(), endsByHand = false }: {
    readonly clock: LoopClock;
    /** What the configuration says besides. */
    readonly config: Readonly<Record<string, unknown>>;
    readonly log?: Logger;
    readonly pillar?: ValueMap;
    readonly endsByHand?: boolean;
  },
): { readonly schedule: MinionSchedule; readonly started: readonly StartedRun[] } {
  Deno.mkdirSync(`${root}/cache`, { recursive: true });
  const own = { root_dir: root, id: "m1", cachedir: `${root}/cache`, mine_enabled: false, grains_refresh_every: 0 };
  Deno.writeTextFileSync(`${root}/minion`, JSON.stringify({ ...own, ...config }, undefined, 1));
  const { opts } = loadMinionConfig({ configDir: root });
  const started: StartedRun[] = [];
  const schedule = new MinionSchedule({
    opts,
    log,
    data: () => ({ grains: new Map(), pillar }),
    begin(load, _isNoted, ended) {
      const about = load.get(SCHEDULED);
      const field = (key: string) => isMap(about) ? about.get(key) ?? null : null;
      started.push({
        name: String(field("schedule")),
        missed: field("missed"),
        planned: field("planned"),
        about: about ?? null,
        end: ended,
      });
      if (!endsByHand) ended();
    },
    clock,
  });
  return { schedule, started };
}
