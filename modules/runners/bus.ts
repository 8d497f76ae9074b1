/**
 * Runner `bus`: the master's event bus. Salt has none of this name.
 * @module
 */

import { readBusState } from "../../lib/bus/state_file.ts";
import { masterBus } from "../../lib/bus/paths.ts";
import { runner, runnerDoc, type RunnerFunction } from "../../lib/client/runner_context.ts";

export const subscribers: RunnerFunction = runner({
  doc: runnerDoc(
    `List who listens to the master's event bus: the process, the tags that it asked for, whether it reads, and how many
events it has missed because it did not. As the bus last wrote it: at every change, and each second while somebody does not
read.`,
    "bus.subscribers",
  ),
  params: {},
  run: (_, { opts }) => readBusState(masterBus(opts.sock_dir)),
});
