/**
 * Runner `bus`: the master's event bus. Salt has none of this name.
 * @module
 */

import { readBusState } from "#lib/bus/state_file.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";

export const subscribers: RunnerFunction = runner({
  doc: runnerDoc(
    `List the subscribers of the master's event bus: the process, the tags that it subscribed to, whether it reads, and the number
of events that it missed. The bus writes this at every change, and each second while a subscriber does not
read.`,
    "bus.subscribers",
  ),
  params: {},
  run: (_, { opts }) => readBusState(masterBus(opts.sock_dir)),
});
