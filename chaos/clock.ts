/**
 * Clocks that jump by an hour, of the master and of the minions, either way, while jobs run. The clock of monotonic time does
 * not jump, as it does not when an operator or NTP sets the time.
 *
 * Needs libfaketime (`apt-get install libfaketime`), whose file of the time is rewritten under the running processes.
 * @module
 */

import { eventually } from "../tests/eventually.ts";
import { echo, ended } from "./disk.ts";
import type { Fault, Figure } from "./fault.ts";
import { NumberedJobs } from "./numbered_jobs.ts";
import { pingFor } from "./pings.ts";
import { type Places, ProcessFleet } from "./process_fleet.ts";

const LIBRARIES = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
];

function library(): string | undefined {
  return LIBRARIES.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** A clock that a process is started with. */
class Clock {
  readonly #path: string;

  constructor(directory: string, name: string) {
    this.#path = `${directory}/${name}`;
    this.jump("+0");
  }

  /** Seconds from the true time from now on. */
  jump(seconds: string): void {
    Deno.writeTextFileSync(this.#path, `${seconds}\n`);
  }

  /** In front of a command that is to go by it. */
  get words(): string[] {
    return [
      "env",
      `LD_PRELOAD=${library()}`,
      `FAKETIME_TIMESTAMP_FILE=${this.#path}`,
      "FAKETIME_NO_CACHE=1",
      "FAKETIME_DONT_FAKE_MONOTONIC=1",
    ];
  }
}

/** See {@linkcode Fault}. */
export const clock: Fault = {
  name: "clock",
  what: "the clock of the master, then of the minions, jumps by an hour either way, while jobs run",
  promise: "nothing is lost, nothing runs twice, and the fleet answers at once",
  missing: () => library() === undefined ? "there is no libfaketime" : undefined,
  async run({ random, say, long }): Promise<Figure[]> {
    const directory = Deno.makeTempDirSync({ prefix: "chaosclock_" });
    try {
      const [master, minion] = ["master", "minion"].map((name) => new Clock(directory, name));
      const places: Places = {
        masterAddress: "127.0.0.1",
        masterName: "127.0.0.1",
        master: master.words,
        minion: () => minion.words,
      };
      const minions = long ? 5 : 2;
      await using fleet = await ProcessFleet.start({ minions, places });
      using jobs = await NumberedJobs.make(fleet);
      const figures: Figure[] = [];
      for (const [who, it] of [["master", master], ["minions", minion]] as const) {
        for (const by of ["+3600", "+0", "-3600", "+0"]) {
          const what = `${who} by ${by} s`;
          for (let i = 0; i < 6; i++) await jobs.publish([random.pick(fleet.ids)], random.int(1_000) / 1_000);
          it.jump(by);
          for (let i = 0; i < 6; i++) await jobs.publish([random.pick(fleet.ids)], random.int(1_000) / 1_000);
          const { firstMs } = await pingFor(fleet, () => fleet.ids, () => false, 30_000);
          await eventually(() => jobs.outstanding === 0, { withinMs: 30_000, what: "the returns" }).catch(() => {});
          say(`${what}: ${jobs.outstanding} returns missing`);
          figures.push({ name: `${what}: test.ping after, ms`, value: firstMs, atMost: 15_000 });
        }
      }
      figures.push(
        { name: "answers at the end", value: await echo(fleet, "end"), atLeast: minions },
        { name: "processes that ended", value: ended(fleet), atMost: 0 },
      );
      return [...figures, ...jobs.figures()];
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  },
};
