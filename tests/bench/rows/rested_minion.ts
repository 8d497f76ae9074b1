/**
 * A minion that has nothing to do, after a time in which it has come to rest.
 * @module
 */

import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { treeCpuMs } from "#tests/bench/harness/process_figures.ts";
import type { Side } from "#tests/bench/harness/sides.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Service } from "#tests/support/processes.ts";
import type { Stage } from "./row.ts";

const MINION = "bench-1";

/** The minion of a group of rows. */
export class RestedMinion {
  readonly #options: () => Readonly<Record<string, string>>;
  readonly #settleMs: number;
  readonly #minions = new WeakMap<Fleet, Promise<Service>>();

  /**
   * @param options Options of the fleet, as lines of configuration.
   * @param settleMs How long it is left alone after its start, in milliseconds.
   */
  constructor(options: () => Readonly<Record<string, string>>, settleMs: number) {
    this.#options = options;
    this.#settleMs = settleMs;
  }

  /** The minion of one side, at rest. */
  async of(stage: Stage, side: Side): Promise<Service> {
    const fleet = await stage.fleet(side, async (fleet) => {
      fleet.setOptions(this.#options());
      await fleet.startMaster();
      const minion = await fleet.startMinion(MINION);
      await fleet.warmUp("*", 1);
      this.#minions.set(fleet, sleep(this.#settleMs).then(() => minion));
    });
    const minion = await this.#minions.get(fleet);
    if (minion === undefined) throw new Error("the fleet has no minion");
    return minion;
  }
}

/** The share of a processor that the tree below `pid` uses during the next `ms` milliseconds, in percent. */
export async function cpuPercent(pid: number, ms: number): Promise<number> {
  const [before, started] = [treeCpuMs(pid), performance.now()];
  await sleep(ms);
  return (treeCpuMs(pid) - before) / (performance.now() - started) * 100;
}
