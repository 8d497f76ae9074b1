/**
 * What an engine in Python runs with, and what runs it: a function of the program, which knows the minion's functions.
 * @module
 */

import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import type { PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { ValueMap } from "#lib/values/value.ts";
import type { EngineBus } from "./engine_bus.ts";
import type { EngineInit } from "./messages.ts";

/** The surroundings of an engine. */
export interface PythonEngineParts {
  readonly bus: EngineBus;
  readonly log: Logger;
  /** Of the minion; of a master, those of a minion on its host. */
  readonly opts: MinionOpts;
  /** The options of the master, for an engine of one. */
  readonly master?: MasterOpts;
  /** `__opts__`. */
  readonly values: ValueMap;
  readonly role: EngineInit["role"];
  readonly plugins: PythonPlugins;
  /** Aborted when the engine must end. */
  readonly signal: AbortSignal;
}

/**
 * Runs an engine in Python.
 * @returns Why it has ended; empty if it returned.
 */
export type RunPythonEngine = (init: EngineInit, parts: PythonEngineParts) => Promise<string>;
