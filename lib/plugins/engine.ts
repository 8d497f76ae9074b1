/**
 * The interface of engines: programs of a master or minion that run as long as it does, each in a process of its own.
 * The module `modules/engines/webhook.ts` with the export `start` is the engine `webhook`; the options of the engine
 * are the arguments of `start`. Knows nothing of loading and of processes.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import type { ValueMap } from "#lib/values/value.ts";
import { type Declaration, declare, type ModuleFunction, type Parameters } from "./module.ts";

/** An event of the bus that an engine reads. */
export interface EngineEvent {
  readonly tag: string;
  readonly data: ValueMap;
}

/** What an engine can do besides what its permissions allow. */
export interface EngineContext {
  /** Its name in the option `engines`. */
  readonly name: string;
  /** The id of its master or minion. */
  readonly id: string;
  /** Whether it runs on a master or on a minion. */
  readonly role: "master" | "minion";
  /** Writes to the log of its master or minion. */
  readonly log: Pick<Logger, "debug" | "info" | "warning" | "error">;
  /** Aborted when the engine must end. */
  readonly signal: AbortSignal;
  /**
   * Fires an event: on a master on its bus, on a minion to its master.
   * @param data A map, or a plain object.
   * @returns Whether the bus took it.
   * @throws {TypeError} If the data are no map.
   */
  fire(tag: string, data: ValueMap | Readonly<Record<string, unknown>>): Promise<boolean>;
  /**
   * The events of the bus from now on whose tags begin with one of `prefixes`, one after the other. A master keeps
   * them until the engine asks for the next one; on a minion an engine that is too slow misses some. Leaving the loop,
   * or `return` of its iterator, closes the stream.
   */
  events(...prefixes: string[]): AsyncIterable<EngineEvent>;
}

/** The name of the function that an engine's module exports. */
export const ENGINE_START = "start";

/** Declares the function `start` of an engine. When it returns or throws, the engine is started again after a pause. */
export function engine<P extends Parameters>(
  declaration: Declaration<P, EngineContext>,
): ModuleFunction<EngineContext> {
  return declare(declaration);
}
