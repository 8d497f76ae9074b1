/**
 * A minion's beacons in Python. They share one process, which lives as long as they run (python_beacon_calls.ts); a
 * minion without any loads no code for them.
 * @module
 */

import { moduleOfFunction } from "#lib/plugins/docs.ts";
import { OWN_BEACONS_PREFIX } from "#lib/plugins/own_beacon.ts";
import { pythonBeacons, type PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import type { Value } from "#lib/values/value.ts";
import type { PythonBeaconCalls, PythonBeaconsParts } from "./python_beacon_calls.ts";

/** The beacons in Python. */
export class PythonBeacons {
  readonly #parts: PythonBeaconsParts;
  #plugins: PythonPlugins;
  #calls: Promise<PythonBeaconCalls> | undefined;

  constructor(parts: PythonBeaconsParts) {
    this.#parts = parts;
    this.#plugins = parts.plugins();
  }

  /** Their names. */
  get names(): readonly string[] {
    return pythonBeacons(this.#plugins);
  }

  /** Whether `fun`, `beacons/NAME.beacon`, is of a beacon in Python. */
  has(fun: string): boolean {
    return fun.startsWith(OWN_BEACONS_PREFIX) &&
      this.names.includes(moduleOfFunction(fun.slice(OWN_BEACONS_PREFIX.length)));
  }

  /**
   * Calls a function of a beacon.
   * @param call Its arguments, packed.
   * @throws {CommandError} If there is none; else what it raises.
   */
  async call(fun: string, call: Uint8Array): Promise<Value> {
    const plugins = this.#plugins;
    this.#calls ??= import("./python_beacon_calls.ts").then(({ PythonBeaconCalls }) =>
      new PythonBeaconCalls(plugins, this.#parts)
    );
    return await (await this.#calls).call(fun, call);
  }

  /** Loads them again from their files. */
  async refresh(): Promise<void> {
    this.#plugins = this.#parts.plugins();
    await this.close();
  }

  /** Ends their process. */
  async close(): Promise<void> {
    const calls = this.#calls;
    this.#calls = undefined;
    await (await calls)?.end();
  }
}
