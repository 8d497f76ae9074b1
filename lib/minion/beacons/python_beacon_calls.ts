/**
 * Calls of beacons in Python, in one process: a beacon compares what it sees with what it saw at its last look.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { CommandError } from "#lib/errors.ts";
import { unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { OWN_BEACONS_PREFIX } from "#lib/plugins/own_beacon.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import { answerByCalls, type CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import type { PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import { PythonJob, type PythonScope } from "#lib/python_bridge/loader/python_job.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import type { Value } from "#lib/values/value.ts";

/** What beacons in Python need of the minion. */
export interface PythonBeaconsParts extends Omit<CallingHost, "opts"> {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** The minion's plugins in Python, as they were found last. */
  plugins(): PythonPlugins;
  /** The socket of the process that starts processes of plugins. */
  socket(): Promise<string>;
}

/** The process of beacons in Python, which begins with the first call. */
export class PythonBeaconCalls {
  readonly #ending = new AbortController();
  readonly #job: PythonJob<PythonScope>;

  constructor(plugins: PythonPlugins, parts: PythonBeaconsParts) {
    const { log, opts } = parts;
    const host: CallingHost = { ...parts, opts: () => optsValues(opts).set("__role", "minion") };
    const scope = { signal: this.#ending.signal };
    this.#job = new PythonJob<PythonScope>({
      role: "minion",
      plugins,
      log,
      socket: () => parts.socket(),
      context: () => scope,
      answers: () => (question) => answerByCalls(question, host),
      isHidden: () => false,
    });
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

  /** Ends the process. */
  async end(): Promise<void> {
    this.#ending.abort(new Error("its beacons are loaded again, or the minion ends"));
    await this.#job.end();
  }
}
