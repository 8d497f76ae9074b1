/**
 * Runner `reactor`: the map of the reactor, what it does and would do. Source: Salt 3008.3 `salt/runners/reactor.py`,
 * whose requests over the event bus show the master's key to every subscriber; here the runner and the reactor share
 * files below the cachedir.
 * @module
 */

import { readMatching } from "#lib/bus/event.ts";
import { isMasterRunning } from "#lib/client/master_running.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { eventLogDirectory, reactorDirectory } from "#lib/config/master_paths.ts";
import { leasesOf } from "#lib/cluster/member_rows.ts";
import { CommandError } from "#lib/errors.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import { seekSince } from "#lib/event_log/since.ts";
import { p } from "#lib/plugins/module.ts";
import { addEntry, changedEntries, deleteEntry, readChanges, writeChanges } from "#lib/reactor/changes.ts";
import { MapMatcher, readReactorMap } from "#lib/reactor/reactor_map.ts";
import { mistakeText } from "#lib/reactor/rendering.ts";
import { REPLAY_EVENT, writeReplay } from "#lib/reactor/replays.ts";
import { compileGlob, matchesGlob } from "#lib/text/glob.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { withCluster } from "./_cluster_database.ts";
import { reactorReport } from "./_waiting.ts";

/** Salt's parameters that have no effect. */
const UNUSED = { saltenv: p.str("base"), test: p.any(null) };

/** Number of events in which `reactor.lint` looks for one of each tag. */
const SEARCHED = 100_000;

/**
 * The report of the running reactor. In a cluster it runs on the master that holds its lease.
 * @throws {CommandError} Salt's error if there is none; in a cluster the name of the master that it runs on.
 * @throws {TemporaryError} If the database of the cluster is away.
 */
async function running(context: RunnerContext): Promise<ValueMap> {
  const { opts } = context;
  if (opts.cluster_id) await checkHoldsLease(context);
  const report = reactorReport(opts);
  if (report !== undefined && await isMasterRunning(opts.sock_dir)) return report;
  throw new CommandError("Reactor system is not running.");
}

/** @throws {CommandError} If another master of the cluster holds the lease, or none. */
async function checkHoldsLease(context: RunnerContext): Promise<void> {
  const leases = await withCluster(
    context,
    ({ database }) => database.read((client) => leasesOf(client, database.schema)),
  );
  const lease = leases.find(({ name }) => name === "reactor");
  if (lease === undefined || !lease.held) {
    throw new CommandError("No master of the cluster holds the lease reactor now.");
  }
  if (lease.master !== context.opts.id) {
    throw new CommandError(`The reactor runs on ${lease.master}, which holds its lease: run this there.`);
  }
}

export const list: RunnerFunction = runner({
  doc: runnerDoc("List the entries of the reactor's map, with those that were added while it runs.", "reactor.list"),
  params: UNUSED,
  async run(_, context) {
    await running(context);
    const { opts } = context;
    const changes = readChanges(reactorDirectory(opts.cachedir));
    const configured: readonly Value[] = Array.isArray(opts.reactor)
      ? opts.reactor
      : readReactorMap(opts.reactor).entries.map(({ tag, files }) => new Map([[tag, [...files]]]));
    return [
      ...configured.filter((entry) => !isMap(entry) || !changes.deleted.some((tag) => entry.has(tag))),
      ...changes.added.map(({ tag, files }): Value => new Map([[tag, [...files]]])),
    ];
  },
});

export const add: RunnerFunction = runner({
  doc: runnerDoc(
    `Add an entry to the reactor's map. It counts for the events from now on, also after a restart of the master.

event
    A glob of tags.

reactors
    A file, or a list of files.`,
    "reactor.add 'salt/cloud/*/destroyed' reactors='/srv/reactor/destroy/*.sls'",
  ),
  params: { event: p.str(), reactors: p.list(), ...UNUSED },
  async run({ event, reactors }, context) {
    await running(context);
    const directory = reactorDirectory(context.opts.cachedir);
    const entry = { tag: event, files: reactors.map(str) };
    const { changes, result } = addEntry(readReactorMap(context.opts.reactor), readChanges(directory), entry);
    if (changes !== undefined) writeChanges(directory, changes);
    return map({ ...result });
  },
});

const remove: RunnerFunction = runner({
  doc: runnerDoc(
    `Delete the entries of a tag from the reactor's map, also for the time after a restart of the master. The configuration
is not changed.

event
    The glob of tags, as the map has it.`,
    "reactor.delete 'salt/cloud/*/destroyed'",
  ),
  params: { event: p.str(), ...UNUSED },
  async run({ event }, context) {
    await running(context);
    const directory = reactorDirectory(context.opts.cachedir);
    const { changes, result } = deleteEntry(readReactorMap(context.opts.reactor), readChanges(directory), event);
    if (changes !== undefined) writeChanges(directory, changes);
    return map({ ...result });
  },
});
export { remove as delete };

export const is_leader: RunnerFunction = runner({
  doc: runnerDoc("Whether events start reactions.", "reactor.is_leader"),
  params: {},
  async run(_, context) {
    await running(context);
    return readChanges(reactorDirectory(context.opts.cachedir)).isLeader;
  },
});

export const set_leader: RunnerFunction = runner({
  doc: runnerDoc(
    `Set whether events start reactions. It also holds after a restart of the master.

value : True
    Whether they do.`,
    "reactor.set_leader",
    "reactor.set_leader False",
  ),
  params: { value: p.bool(true) },
  async run({ value }, context) {
    await running(context);
    const directory = reactorDirectory(context.opts.cachedir);
    writeChanges(directory, { ...readChanges(directory), isLeader: value });
    return value;
  },
});

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    `Show what the reactor does, as it was at most a second ago: events that wait in the event log (\`behind\`), events whose
files are rendered (\`in_work\`), functions of runners and wheel modules that wait or run, what it started and what it
left out, and the last errors with their files and lines.`,
    "reactor.status",
  ),
  params: {},
  run: (_, context) => running(context),
});

/** The matcher of the map as it is now. */
function matcher({ opts }: RunnerContext): MapMatcher {
  const changes = readChanges(reactorDirectory(opts.cachedir));
  return new MapMatcher(changedEntries(readReactorMap(opts.reactor), changes));
}

export const explain: RunnerFunction = runner({
  doc: runnerDoc(
    `Show what would come of an event, without doing it: the files that react to it, what they render to, and the calls that
they ask for, in their order.

tag
    The event's tag.

data
    Its data.`,
    "reactor.explain salt/minion/web1/start '{id: web1}'",
  ),
  params: { tag: p.str(), data: p.dict(null) },
  async run({ tag, data }, context) {
    const files = matcher(context).filesFor(tag);
    const made = await context.reactor.render(tag, data ?? new Map(), files);
    const rules: string[] = [];
    if (data?.get("user") === "Reactor") rules.push("events with the user Reactor start no reaction");
    if (!readChanges(reactorDirectory(context.opts.cachedir)).isLeader) rules.push("the reactor is not the leader");
    return new Map<Value, Value>([
      ["tag", tag],
      ["files", [...files]],
      ...made,
      ...rules.length > 0 ? [["prevented", rules] as [Value, Value]] : [],
    ]);
  },
});

export const replay: RunnerFunction = runner({
  doc: runnerDoc(
    `Start the reactions of events that have passed, as the files and the map are now.

since
    Which events: as in \`state.event\`, those after an offset, since a moment, or of the last time (\`15m\`).

tag : *
    A glob of their tags.

test : False
    Only count them.`,
    "reactor.replay since=15m tag='salt/minion/*/start'",
  ),
  params: { since: p.str(), tag: p.str("*"), test: p.bool(false) },
  async run({ since, tag, test }, context) {
    await running(context);
    const { opts, jid } = context;
    const matches = compileGlob(tag), files = matcher(context);
    using reader = new EventLogReader(eventLogDirectory(opts.cachedir));
    seekSince(reader, since);
    const first = reader.next;
    let events = 0;
    for (let batch = reader.read(); batch.events.length > 0; batch = reader.read()) {
      for (const { frame } of batch.events) {
        if (readMatching(frame, (each) => matches(each) && files.filesFor(each).length > 0) !== undefined) events++;
      }
    }
    if (!test && events > 0) {
      writeReplay(reactorDirectory(opts.cachedir), jid, { first, next: reader.next, tag });
      await context.fire(`${REPLAY_EVENT}${jid}`, map({ since, tag, events }));
    }
    return map({ events });
  },
});

export const lint: RunnerFunction = runner({
  doc: runnerDoc(
    `Check the reactor's map and its files: the form of the map, whether files exist, templates, and the reactions that they
make. Each file is rendered with the last event in the event log whose tag its entry matches; without one, with
\`data\`, and then names that are not in it are no mistakes. The exit code is 1 if there are mistakes.

data
    Data of an event for files that have seen none.`,
    "reactor.lint",
    "reactor.lint '{id: web1}'",
  ),
  params: { data: p.dict(null) },
  async run({ data }, context) {
    const { opts } = context;
    const read = readReactorMap(opts.reactor, opts);
    const mistakes = read.mistakes.map(mistakeText);
    const entries = changedEntries(read, readChanges(reactorDirectory(opts.cachedir)));
    const seen = lastEvents(context, entries.map(({ tag }) => tag));
    for (const { tag, files } of entries) {
      const event = seen.get(tag);
      const made = await context.reactor.render(event?.tag ?? tag, event?.data ?? data ?? new Map(), files);
      const found = made.get("mistakes");
      for (const text of Array.isArray(found) ? found.map(str) : []) {
        if (event === undefined && data === null && /is undefined|has no attribute/.test(text)) continue;
        mistakes.push(`${tag}: ${text}`);
      }
    }
    if (mistakes.length > 0) context.setRetcode(1);
    return map({ entries: entries.length, mistakes });
  },
});

/** The last event that each glob matches. */
function lastEvents({ opts }: RunnerContext, globs: readonly string[]) {
  const found = new Map<string, { readonly tag: string; readonly data: ValueMap }>();
  using reader = new EventLogReader(eventLogDirectory(opts.cachedir));
  reader.seekEnd();
  reader.seek(Math.max(0, reader.next - SEARCHED));
  for (let batch = reader.read(); batch.events.length > 0; batch = reader.read()) {
    for (const { frame } of batch.events) {
      const event = readMatching(frame, (tag) => globs.some((glob) => matchesGlob(glob, tag)));
      if (event === undefined) continue;
      for (const glob of globs) if (matchesGlob(glob, event.tag)) found.set(glob, event);
    }
  }
  return found;
}
