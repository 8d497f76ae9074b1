/**
 * What a row of the benchmark is.
 * @module
 */

import { Fleet } from "../fleets/fleet.ts";
import type { PythonVersion } from "../harness/python_salt.ts";
import type { Side } from "../harness/sides.ts";

/** What a figure counts, and whether less of it is better. */
export interface Unit {
  /** As it comes after a figure. */
  readonly name: string;
  /** Whether less of it is better. */
  readonly lessIsBetter: boolean;
  /** Digits after the point. */
  readonly digits: number;
}

/** Milliseconds. */
export const MS: Unit = { name: "ms", lessIsBetter: true, digits: 0 };
/** Milliseconds where tenths count. */
export const FINE_MS: Unit = { name: "ms", lessIsBetter: true, digits: 1 };
/** Megabytes of 2^20 bytes. */
export const MB: Unit = { name: "MB", lessIsBetter: true, digits: 1 };
/** Kilobytes of 2^10 bytes. */
export const KB: Unit = { name: "KB", lessIsBetter: true, digits: 1 };
/** Part of one processor. */
export const PERCENT: Unit = { name: "%", lessIsBetter: true, digits: 2 };
/** Megabytes of 2^20 bytes a second. */
export const MB_PER_SECOND: Unit = { name: "MB/s", lessIsBetter: false, digits: 0 };
/** How many a second. */
export const PER_SECOND: Unit = { name: "/s", lessIsBetter: false, digits: 0 };

/** One question. */
export interface Row {
  /** How it is asked for alone: `deno task bench cli`. */
  readonly name: string;
  readonly title: string;
  /** What the figure counts. */
  readonly unit: Unit;
  /** Rows of one group share fleets; when the group has been measured, its fleets end. */
  readonly group: string;
  /** How often it is measured on each side, in turn. Default: as often as the run is told to. */
  readonly runs?: number;
  /** The Python Salts to compare it with. Default: {@linkcode NEWEST_PYTHON}. */
  readonly pythons?: readonly PythonVersion[];
  /** Whether a short run leaves it out, unless it is asked for by name. */
  readonly long?: true;
  /** Measures it once. */
  measure(stage: Stage, side: Side): Promise<number>;
  /** What no implementation can beat: the same work through bare sockets. */
  limit?(): Promise<number>;
}

/** The fleets of a group, made when they are first asked for, directories of its own, and remarks on what was measured. */
export class Stage {
  readonly #directories: string[] = [];
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

  /** A new directory, which goes with the group. */
  directory(): string {
    const path = Deno.makeTempDirSync({ prefix: "bench_" });
    this.#directories.push(path);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const fleets = await Promise.allSettled(this.#fleets.values());
    for (const made of fleets) if (made.status === "fulfilled") await made.value[Symbol.asyncDispose]();
    this.#fleets.clear();
    for (const path of this.#directories.splice(0)) Deno.removeSync(path, { recursive: true });
  }
}
