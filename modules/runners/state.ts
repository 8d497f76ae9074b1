/**
 * Runner `state`: the event stream. Orchestration is not built.
 * Source: Salt 3008.3 `salt/runners/state.py` and `event` of `salt/modules/state.py`.
 * @module
 */

import { watchBus } from "../../lib/bus/watch.ts";
import { masterBus, minionBusIn } from "../../lib/bus/paths.ts";
import { formatEvent } from "../../lib/bus/event_text.ts";
import { CommandError } from "../../lib/errors.ts";
import { runner, runnerDoc, type RunnerFunction } from "../../lib/client/runner_context.ts";
import { bool, int, str } from "../../lib/plugins/module.ts";

export const event: RunnerFunction = runner({
  doc: runnerDoc(
    `Print the events of an event bus as they come: the tag, a tab, and the data as JSON, a line for each. Ends with
Ctrl-C, when nobody reads its output any more, or after \`count\` events. The bus sends only events that begin as
\`tagmatch\` does.

tagmatch : *
    A glob or a regular expression for the tags of the events that are wanted.

count : -1
    End after so many events; -1: never.

quiet : False
    Print nothing, only wait.

sock_dir
    The directory of the sockets. Default: the master's option of that name.

pretty : False
    Print the JSON on several lines, with sorted keys.

node : master
    Whose bus: \`master\`, or \`minion\`, whose sockets must be in \`sock_dir\`.`,
    "state.event",
    "state.event 'salt/job/*/ret/*' pretty=True",
    "state.event 'salt/minion/*/start' count=3 quiet=True",
  ),
  params: {
    tagmatch: str("*"),
    count: int(-1),
    quiet: bool(false),
    sock_dir: str(null),
    pretty: bool(false),
    node: str("master"),
  },
  async run({ tagmatch, count, quiet, sock_dir, pretty, node }, context) {
    const directory = sock_dir ?? context.opts.sock_dir;
    let left = count;
    const events = watchBus(busOf(node, directory), {
      tags: tagmatch,
      signal: context.signal,
      onMissed: (missed) => context.log("warning", `${missed} events were missed: they came faster than they are read`),
    });
    for await (const event of events) {
      if (!quiet && !context.print(formatEvent(event, { pretty }))) return null;
      if (left > 0) left--;
      if (left === 0) return null;
    }
    return null;
  },
});

function busOf(node: string, directory: string): string {
  if (node === "master") return masterBus(directory).pub;
  if (node !== "minion") throw new CommandError(`node must be master or minion, not ${node}`);
  const found = minionBusIn(directory);
  if (found.length === 1) return found[0];
  throw new CommandError(
    found.length === 0
      ? `No minion has its event bus in ${directory}: name the sock_dir of the minion's configuration`
      : `Several minions have their event bus in ${directory}`,
  );
}
