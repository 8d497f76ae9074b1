/**
 * The clocks of the master and of the minions jump by an hour, forward and back, while jobs run. The monotonic clock
 * does not jump, as when an operator or NTP sets the time. Last, a master is killed after the jump, while jobs wait for
 * an absent minion.
 *
 * A preloaded library (clock.c) changes the clocks of the processes; it is built when it is needed.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import { buildLibrary, missingCompiler } from "#tests/chaos/harness/compiler.ts";
import { echo, ended } from "./disk.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { NumberedJobs } from "#tests/chaos/harness/numbered_jobs.ts";
import { pingFor } from "#tests/chaos/harness/pings.ts";
import { type Places, ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

/** A changeable clock of a process. */
class Clock {
  readonly #library: string;
  readonly #path: string;

  constructor(library: string, path: string) {
    this.#library = library;
    this.#path = path;
    this.jump(0);
  }

  /** Sets the offset from the true time, in seconds. */
  jump(seconds: number): void {
    // The file is written in place, because the processes have mapped it.
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setBigInt64(0, BigInt(seconds), true);
    using file = Deno.openSync(this.#path, { write: true, create: true });
    file.writeSync(new Uint8Array(bytes.buffer));
  }

  /** The prefix of a command that is to use this clock. */
  get words(): string[] {
    return ["env", `LD_PRELOAD=${this.#library}`, `CHAOS_CLOCK=${this.#path}`];
  }
}

/** The offset of a node's last log line from the true time, in seconds. The line must be of this moment. */
function offInLog(fleet: ProcessFleet, node: string): number {
  const [date, time] = (fleet.log(node).trimEnd().split("\n").at(-1) ?? "").split(/[ ,]/);
  return Math.round((new Date(`${date}T${time}`).getTime() - Date.now()) / 1_000);
}

/** Maximum age of the last log line, in seconds. */
const OLD_S = 600;

/** Delivery time of the jobs that wait for an absent minion, in seconds: less than the clock jumps. */
const WAITING_S = 600;

/**
 * The clock jumps while jobs wait for an absent minion; then the master is killed and started, and the minion comes.
 */
async function restartAfterJump(
  { fleet, jobs, id, jump }: {
    readonly fleet: ProcessFleet;
    readonly jobs: NumberedJobs;
    readonly id: string;
    readonly jump: () => void;
  },
): Promise<void> {
  await fleet.stopMinion(id);
  // A job with a file of its own, and one in the log.
  for (const ttlS of [WAITING_S, 60]) await jobs.publish([id], 0, ttlS);
  jump();
  await fleet.killMaster();
  jobs.hangUp();
  await fleet.startMaster();
  await fleet.startMinion(id);
}

/** See {@linkcode Fault}. */
export const clock: Fault = {
  name: "clock",
  what: "the clock of the master, then of the minions, jumps by an hour either way, while jobs run and wait",
  promise: "nothing is lost, nothing runs twice, and all minions answer at once",
  missing: missingCompiler,
  async run({ random, say, long }): Promise<Figure[]> {
    const directory = Deno.makeTempDirSync({ prefix: "chaosclock_" });
    try {
      const library = buildLibrary("clock", directory);
      const [master, minion] = ["master", "minion"].map((name) => new Clock(library, `${directory}/${name}`));
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
        for (const by of [3_600, 0, -3_600, 0]) {
          const what = `${who} at ${by} s`;
          for (let i = 0; i < 6; i++) await jobs.publish([random.pick(fleet.ids)], random.int(1_000) / 1_000);
          it.jump(by);
          for (let i = 0; i < 6; i++) await jobs.publish([random.pick(fleet.ids)], random.int(1_000) / 1_000);
          const { firstMs } = await pingFor(fleet, () => fleet.ids, () => false, 60_000);
          await eventually(() => jobs.outstanding === 0, { what: "the returns" }).catch(() => {});
          say(`${what}: ${jobs.outstanding} returns missing`);
          const off = offInLog(fleet, who === "master" ? who : fleet.ids[0]);
          figures.push(
            { name: `${what}: its log is off by, s`, value: off, atLeast: by - OLD_S, atMost: by + 1 },
            { name: `${what}: test.ping after, ms`, value: firstMs, atMost: 30_000 },
          );
        }
      }
      for (const by of [3_600, -3_600]) {
        await restartAfterJump({ fleet, jobs, id: random.pick(fleet.ids), jump: () => master.jump(by) });
        await eventually(() => jobs.outstanding === 0, { what: "the returns of waiting jobs" }).catch(() => {});
        say(`master at ${by} s, restarted: ${jobs.outstanding} returns missing`);
        master.jump(0);
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
