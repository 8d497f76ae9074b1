/**
 * The definition of a row of the benchmark.
 * @module
 */

import { Fleet } from "#tests/bench/fleets/fleet.ts";
import type { PythonVersion } from "#tests/bench/harness/python_salt.ts";
import type { Side } from "#tests/bench/harness/sides.ts";

/** The unit of a figure, and whether less is better. */
export interface Unit {
  /** The text after a figure. */
  readonly name: string;
  /** Whether less of it is better. */
  readonly lessIsBetter: boolean;
  /** Digits after the point. */
  readonly digits: number;
}

/** Milliseconds. */
export const MS: Unit = { name: "ms", lessIsBetter: true, digits: 0 };
/** Milliseconds with tenths. */
export const MS_TENTHS: Unit = { name: "ms", lessIsBetter: true, digits: 1 };
/** Megabytes of 2^20 bytes. */
export const MB: Unit = { name: "MB", lessIsBetter: true, digits: 1 };
/** Kilobytes of 2^10 bytes. */
export const KB: Unit = { name: "KB", lessIsBetter: true, digits: 1 };
/** Percentage of one processor. */
export const PERCENT: Unit = { name: "%", lessIsBetter: true, digits: 2 };
/** Megabytes of 2^20 bytes a second. */
export const MB_PER_SECOND: Unit = { name: "MB/s", lessIsBetter: false, digits: 0 };
/** Number for each minute. */
export const PER_MINUTE: Unit = { name: "/min", lessIsBetter: true, digits: 0 };
/** Number for each second. */
export const PER_SECOND: Unit = { name: "/s", lessIsBetter: false, digits: 0 };

/** One row: one measurement on each side. */
export interface Row {
  /** Its name on the command line: `deno task bench cli`. */
  readonly name: string;
  readonly title: string;
  /** The unit of the figure. */
  readonly unit: Unit;
  /** Rows of one group share fleets, which end after the last row of the group. */
  readonly group: string;
  /**
   * Number of runs on each side, in turn.
   * @default the number of the benchmark
   */
  readonly runs?: number;
  /**
   * The Python Salts of the comparison.
   * @default {@linkcode NEWEST_PYTHON}
   */
  readonly pythons?: readonly PythonVersion[];
  /** Whether a short run leaves it out, unless it is named. */
  readonly long?: true;
  /** Measures it once. */
  measure(stage: Stage, side: Side): Promise<number>;
  /** Measures the limit that no implementation can beat: the same work through bare sockets. */
  limit?(): Promise<number>;
}

/** The fleets of a group, made at their first use, its directories, and remarks on the measurement. */
export class Stage {
  readonly #directories: string[] = [];
  readonly #servers: AsyncDisposable[] = [];
  readonly #fleets = new Map<string, Promise<Fleet>>();
  /** Reasons to doubt a figure. */
  readonly remarks = new Set<string>();

  /** The fleet of `side`; `prepare` is run once, with a new one. */
  fleet(side: Side, prepare: (fleet: Fleet) => Promise<void>): Promise<Fleet> {
    const known = this.#fleets.get(side.name);
    if (known !== undefined) return known;
    const made = (async () => {
      const fleet = new Fleet(side);
      try {
        await prepare(fleet);
        return fleet;
      } catch (error) {
        await fleet[Symbol.asyncDispose]();
        throw error;
      }
    })();
    this.#fleets.set(side.name, made);
    return made;
  }

  /** A new directory, which is removed with the group. */
  directory(): string {
    const path = Deno.makeTempDirSync({ prefix: "bench_" });
    this.#directories.push(path);
    return path;
  }

  /** Ends a server with the group, after the fleets. */
  endWith(server: AsyncDisposable): void {
    this.#servers.push(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const fleets = await Promise.allSettled(this.#fleets.values());
    for (const made of fleets) if (made.status === "fulfilled") await made.value[Symbol.asyncDispose]();
    this.#fleets.clear();
    for (const server of this.#servers.splice(0)) await server[Symbol.asyncDispose]();
    for (const path of this.#directories.splice(0)) Deno.removeSync(path, { recursive: true });
  }
}
