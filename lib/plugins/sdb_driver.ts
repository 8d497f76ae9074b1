/**
 * The form of a driver of sdb: what an address `sdb://profile/key` reads and writes. A file `modules/sdb/env.ts` that
 * exports `get` is the driver `env`.
 * @module
 */

import type { JobContext } from "./job_context.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** A driver. The profile is a map of the configuration or the pillar, with the driver's settings. */
export interface SdbDriver {
  /**
   * The value of a key; None: there is none.
   * @throws {CommandError} If it cannot be read.
   */
  get(key: string, profile: ValueMap, context: JobContext): Value | Promise<Value>;
  /**
   * Stores a value. Absent: the driver only reads.
   * @returns What Salt's driver returns.
   * @throws {CommandError} If it cannot be stored.
   */
  set?(key: string, value: Value, profile: ValueMap, context: JobContext): Value | Promise<Value>;
  /** Removes a key. Absent: the driver removes nothing. */
  delete?(key: string, profile: ValueMap, context: JobContext): Value | Promise<Value>;
}

/** The drivers by name. */
export type SdbDrivers = Readonly<Record<string, () => Promise<SdbDriver>>>;
