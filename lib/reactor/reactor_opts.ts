/**
 * Whether a master or minion has a reactor, and the options of it.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { ConfigError, PreflightError } from "#lib/errors.ts";
import { isMap, str, toNumber, type Value } from "#lib/values/value.ts";

/** The name of the engine that is the reactor. */
const ENGINE = "reactor";

/** The options of the engine: `null` without options, `undefined` if `engines` does not name it. */
function engineOptions(engines: Value): Value | undefined {
  if (isMap(engines)) return engines.get(ENGINE);
  if (!Array.isArray(engines)) return undefined;
  const engine = engines.find((each) => each === ENGINE || (isMap(each) && each.has(ENGINE)));
  return isMap(engine) ? engine.get(ENGINE) : engine === undefined ? undefined : null;
}

/**
 * The options of the master's reactor; `undefined` if it has none: neither `reactor` nor an engine of this name is set.
 * @throws {ConfigError} If the engine has options that it cannot have.
 * @throws {PreflightError} If the master keeps no events.
 */
export function reactorOpts(opts: MasterOpts): MasterOpts | undefined {
  const own = engineOptions(opts.engines);
  if (own === undefined && isEmpty(opts.reactor)) return undefined;
  if (opts.event_log === "none") throw new PreflightError("The reactor needs the event log: event_log is none");
  return {
    ...opts,
    reactor_worker_threads: engineOption(own, "worker_threads") ?? opts.reactor_worker_threads,
    reactor_worker_hwm: engineOption(own, "worker_hwm") ?? opts.reactor_worker_hwm,
  };
}

/**
 * How many functions the reactor of a minion runs at once, and how many events may wait; `undefined` if `engines` does
 * not name it.
 * @throws {ConfigError} If the engine has options that it cannot have.
 */
export function engineWorkers(
  engines: Value,
  defaults: { readonly running: number; readonly waiting: number },
): { readonly running: number; readonly waiting: number } | undefined {
  const own = engineOptions(engines);
  if (own === undefined) return undefined;
  return {
    running: engineOption(own, "worker_threads") ?? defaults.running,
    waiting: engineOption(own, "worker_hwm") ?? defaults.waiting,
  };
}

function engineOption(own: Value | undefined, name: string): number | undefined {
  const value = isMap(own) ? own.get(name) ?? null : null;
  if (value === null) return undefined;
  const number = toNumber(value);
  if (number !== undefined && Number.isInteger(number) && number >= 1) return number;
  throw new ConfigError(`${name} of the engine reactor must be an integer of at least 1, not ${str(value)}`, {
    option: "engines",
  });
}

function isEmpty(reactor: Value): boolean {
  return reactor === null || reactor === "" || (Array.isArray(reactor) && reactor.length === 0);
}
