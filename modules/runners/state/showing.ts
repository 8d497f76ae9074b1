/**
 * Runner `state`: the event stream, and showing the states of an orchestration. Running one is in `orchestrating.ts`.
 * Source: Salt 3008.3 `salt/runners/state.py` and `event` of `salt/modules/state.py`.
 * @module
 */

import { openEvents } from "./event_stream.ts";
import { masterBus, minionBusIn } from "#lib/bus/paths.ts";
import { formatEvent } from "#lib/bus/event_text.ts";
import { masterAsMinion } from "#lib/config/load.ts";
import { ASKED, givenKeywords as given, OF_MASTER, OF_SLS, PILLAR_PARAMS, SLS_PARAMS } from "./orchestrated.ts";
import { CommandError } from "#lib/errors.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";
import { truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const event: RunnerFunction = runner({
  doc: runnerDoc(
    `Print the events of an event bus as they come: the tag, a tab, and the data as JSON, a line for each. Ends with
Ctrl-C, when its output is closed, or after \`count\` events. The bus sends only events whose tags begin like
\`tagmatch\`.

tagmatch : *
    A glob or a regular expression for the tags of the events that are wanted.

count : -1
    End after this number of events; -1: never.

quiet : False
    Print nothing, only wait.

sock_dir
    The directory of the sockets. Default: the master's option of that name.

pretty : False
    Print the JSON on several lines, with sorted keys.

node : master
    Whose bus: \`master\`, or \`minion\`, whose sockets must be in \`sock_dir\`.

since : now
    Begin with events that have passed, from the master's event log: those after an offset (\`3f2a9c01.12345\`), since a
    moment (\`2026-11-23T12:00:00Z\`), of the last time (\`90s\`, \`15m\`, \`2h\`, \`1d\`), or all (\`start\`). New events
    follow. No event is missed or comes twice.

offsets : False
    Whether each event's data have its offset in the log as \`_offset\`.`,
    "state.event",
    "state.event 'salt/job/*/ret/*' pretty=True",
    "state.event 'salt/key' since=2h offsets=True",
    "state.event 'salt/minion/*/start' count=3 quiet=True",
  ),
  params: {
    tagmatch: p.str("*"),
    count: p.int(-1),
    quiet: p.bool(false),
    sock_dir: p.str(null),
    pretty: p.bool(false),
    node: p.str("master"),
    since: p.str(null),
    offsets: p.bool(false),
  },
  async run({ tagmatch, count, quiet, sock_dir, pretty, node, since, offsets }, context) {
    const directory = sock_dir ?? context.opts.sock_dir;
    let left = count;
    if (since !== null && node !== "master") throw new CommandError("since: only the master's bus has a log");
    const events = await openEvents({ tags: tagmatch, since, offsets, bus: busOf(node, directory), node }, context);
    for await (const event of events) {
      // `salt-run --out=json state.event | while read tag data` reads them, as with Salt.
      if (!quiet && !context.print(formatEvent(event, { pretty }), { isAskedFor: true })) return null;
      if (left > 0) left--;
      if (left === 0) return null;
    }
    return null;
  },
});

/** Runs a function that shows states on the master's host, or on the minions of a target. */
async function executeOn(
  fun: string,
  { args, kwargs, tgt, tgt_type, timeout }: {
    readonly args: Value[];
    readonly kwargs: ValueMap;
    readonly tgt: Value;
    readonly tgt_type: string;
    readonly timeout: number | null;
  },
  context: RunnerContext,
): Promise<Value> {
  if (!truthy(tgt)) return await context.execute({ fun, args, kwargs, withPillar: true });
  const timeoutS = timeout || context.opts.timeout;
  const returns = await context.local.run(tgt, fun, { arg: args, kwargs, tgtType: tgt_type, timeoutS });
  return new Map([...returns].map(([id, { return: result }]) => [id, result]));
}

const TARGETED = { tgt: p.any(null), tgt_type: p.str("glob"), timeout: p.float(null) };

export const orchestrate_show_sls: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the high data of SLS files as an orchestration would have them, under the id of the master's host. ${OF_MASTER}

mods
    The names of the files: a list, or a text with commas.${OF_SLS}

queue : False
    Accepted for compatibility with Salt.`,
    "state.orchestrate_show_sls orch.deploy 'pillar={group: web}'",
  ),
  params: { mods: p.any(), ...SLS_PARAMS, queue: p.any(false), ...PILLAR_PARAMS },
  async run({ mods, queue: _queue, ...options }, context) {
    const call = { fun: "state.show_sls", args: [mods], kwargs: given(options), withPillar: true };
    return new Map([[masterAsMinion(context.opts).id, await context.execute(call)]]);
  },
});

export const orch_show_sls: RunnerFunction = orchestrate_show_sls;

export const graph: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the requisites of the states of SLS files as a graph in Graphviz's language. ${OF_MASTER}

mods
    The names of the files: a list, or a text with commas.

tgt, tgt_type : glob
    Ask these minions for their graphs instead; the result is by minion.${OF_SLS}

timeout
    Seconds to wait for minions; the master's option of that name, unless given.`,
    "state.graph orch.deploy",
    "state.graph web tgt='web*'",
  ),
  params: { mods: p.any(), ...TARGETED, ...SLS_PARAMS, ...PILLAR_PARAMS },
  run: ({ mods, tgt, tgt_type, timeout, ...options }, context) =>
    executeOn("state.graph", { args: [mods], kwargs: given(options), tgt, tgt_type, timeout }, context),
});

export const graph_highstate: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the requisites of what the top file gives as a graph in Graphviz's language. ${OF_MASTER}

tgt, tgt_type : glob
    Ask these minions for their graphs instead; the result is by minion.${ASKED}

timeout
    Seconds to wait for minions; the master's option of that name, unless given.`,
    "state.graph_highstate",
    "state.graph_highstate tgt='web*'",
  ),
  params: { ...TARGETED, ...PILLAR_PARAMS },
  run: ({ tgt, tgt_type, timeout, ...options }, context) =>
    executeOn("state.graph_highstate", { args: [], kwargs: given(options), tgt, tgt_type, timeout }, context),
});

function busOf(node: string, directory: string): string {
  if (node === "master") return masterBus(directory).pub;
  if (node !== "minion") throw new CommandError(`node must be master or minion, not ${node}`);
  const bus = minionBusIn(directory);
  if (bus.length === 1) return bus[0];
  throw new CommandError(
    bus.length === 0
      ? `No minion has its event bus in ${directory}: name the sock_dir of the minion's configuration`
      : `Several minions have their event bus in ${directory}`,
  );
}
