/**
 * A minion's beacons in Python. They share one process, which lives as long as they run: a beacon compares what it sees
 * with what it saw at its last look.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { CommandError } from "#lib/errors.ts";
import { unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { pythonPlugins } from "#lib/minion/worker/python_plugins.ts";
import { moduleOfFunction } from "#lib/plugins/docs.ts";
import { OWN_BEACONS_PREFIX } from "#lib/plugins/own_beacon.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import { answerByCalls, type CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import type { PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import { PythonJob, type PythonScope } from "#lib/python_bridge/loader/python_job.ts";
import { pythonBeacons } from "#lib/python_bridge/loader/python_prefixed.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import type { Value } from "#lib/values/value.ts";

/** What they need of the minion. */
export interface PythonBeaconsParts extends Omit<CallingHost, "opts"> {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** The socket of the process that starts processes of plugins. */
  socket(): Promise<string>;
}

/** The beacons in Python. */
export class PythonBeacons {
  readonly #parts: PythonBeaconsParts;
  readonly #ending = new AbortController();
  #plugins: PythonPlugins;
  #job: PythonJob<PythonScope>;

  constructor(parts: PythonBeaconsParts) {
    this.#parts = parts;
    this.#plugins = this.#find();
    this.#job = this.#open();
  }

  /** Their names. */
  get names(): readonly string[] {
    return pythonBeacons(this.#plugins);
  }

  #find(): PythonPlugins {
    return pythonPlugins(this.#parts.opts, this.#parts.log.warning);
  }

  #open(): PythonJob<PythonScope> {
    const { log, opts } = this.#parts;
    const host: CallingHost = { ...this.#parts, opts: () => optsValues(opts).set("__role", "minion") };
    const scope = { signal: this.#ending.signal };
    return new PythonJob<PythonScope>({
      role: "minion",
      plugins: this.#plugins,
      log,
      socket: () => this.#parts.socket(),
      context: () => scope,
      answers: () => (question) => answerByCalls(question, host),
      isHidden: () => false,
    });
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
    const given = mapOrEmpty(unpackValue(call));
    const request = {
      kind: "call",
      family: "beacons",
      fun: fun.slice(OWN_BEACONS_PREFIX.length),
      args: listOrEmpty(given.get("args")),
      kwargs: mapOrEmpty(given.get("kwargs")),
      test: false,
    } as const;
    try {
      return (await this.#job.request(request, { signal: this.#ending.signal })).value;
    } catch (error) {
      if (!(error instanceof MissingPlugin)) throw error;
      const reason = error.reason === null || error.reason === "" ? "" : `: ${error.reason}`;
      throw new CommandError(reason === "" ? `'${fun}' is not available.` : `it does not load${reason}`);
    }
  }

  /** Loads them again from their files. */
  async refresh(): Promise<void> {
    const old = this.#job;
    this.#plugins = this.#find();
    this.#job = this.#open();
    await old.end();
  }

  /** Ends their process. */
  async close(): Promise<void> {
    this.#ending.abort(new Error("the minion ends"));
    await this.#job.end();
  }
}
