/**
 * The execution functions of a master's host, for systems of `external_auth` in Python.
 * @module
 */

import { masterAsMinion } from "#lib/config/load.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { busOfMaster } from "#lib/engines/engine_bus.ts";
import { PluginFunctions } from "#lib/minion/local_call/plugin_functions.ts";
import type { CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";

/** Reads the grains of the host, and gives its functions. Nothing of their calls is logged. */
export async function openExecutionFunctions(opts: MasterOpts): Promise<CallingHost> {
  return await PluginFunctions.open({
    bus: busOfMaster(opts, SILENT_LOGGER),
    log: SILENT_LOGGER,
    opts: masterAsMinion(opts),
    values: optsValues(opts),
    role: "master",
    signal: new AbortController().signal,
  });
}
