/**
 * Calls of beacons in Python, in one process: a beacon compares what it sees with what it saw at its last look.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { moduleOfFunction } from "#lib/plugins/docs.ts";
import { OWN_BEACONS_PREFIX } from "#lib/plugins/own_beacon.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import { answerByCalls, type CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import type { PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import { PythonJob, type PythonScope } from "#lib/python_bridge/loader/python_job.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

/** The function of a beacon that looks. */
const LOOK = ".beacon";
/** Maximum time for the functions `close` of all beacons, in milliseconds. */
const CLOSE_MS = 2_000;
const BEACON_CALL = { kind: "call", family: "beacons", test: false } as const;

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
  readonly #log: Logger;
  /** The arguments of the last look of each beacon, by its module and its name in the configuration. */
  readonly #looked = new Map<string, { readonly module: string; readonly args: readonly Value[] }>();
  /** The end of the first call of each module, which loads its file: another call would meet half of the module. */
  readonly #loaded = new Map<string, Promise<unknown>>();

  constructor(plugins: PythonPlugins, parts: PythonBeaconsParts) {
    const { log, opts } = parts;
    this.#log = log;
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
    const name = fun.slice(OWN_BEACONS_PREFIX.length), args = listOrEmpty(given.get("args"));
    if (name.endsWith(LOOK)) {
      const module = name.slice(0, -LOOK.length);
      this.#looked.set(`${module} ${nameIn(args)}`, { module, args });
    }
    const request = { ...BEACON_CALL, fun: name, args, kwargs: mapOrEmpty(given.get("kwargs")) };
    try {
      return (await this.#afterLoad(moduleOfFunction(name), () => {
        return this.#job.request(request, { signal: this.#ending.signal });
      })).value;
    } catch (error) {
      if (!(error instanceof MissingPlugin)) throw error;
      const reason = error.reason === null || error.reason === "" ? "" : `: ${error.reason}`;
      throw new CommandError(reason === "" ? `'${fun}' is not available.` : `it does not load${reason}`);
    }
  }

  async #afterLoad<T>(module: string, call: () => Promise<T>): Promise<T> {
    const loaded = this.#loaded.get(module);
    if (loaded !== undefined) return await loaded.then(call);
    const first = call();
    this.#loaded.set(module, first.catch(() => {}));
    return await first;
  }

  /** Closes the beacons that have looked, and ends the process. */
  async end(): Promise<void> {
    if (this.#looked.size > 0) await new TimeBudget(CLOSE_MS).allows(this.#closeAll());
    this.#ending.abort(new Error("its beacons are loaded again, or the minion ends"));
    await this.#job.end();
  }

  async #closeAll(): Promise<void> {
    const scope = { signal: this.#ending.signal };
    for (const { module, args } of this.#looked.values()) {
      try {
        await this.#job.request({ ...BEACON_CALL, fun: `${module}.close`, args, kwargs: new Map() }, scope);
      } catch (error) {
        // Most beacons have nothing to close.
        if (error instanceof MissingPlugin) continue;
        this.#log.warning(`The beacon ${module} was not closed: ${messageOf(error)}`);
      }
    }
  }
}

/** The name in the configuration of the beacon that is called. */
function nameIn(args: readonly Value[]): string {
  const config = listOrEmpty(args[0] ?? null);
  const named = config.find((one) => isMap(one) && one.has("_beacon_name"));
  return isMap(named) ? str(named.get("_beacon_name") ?? "") : "";
}
