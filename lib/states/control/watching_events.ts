/**
 * `state.event`: the events of a bus of this host, printed as they come.
 * Source: Salt 3008.3, `event` of `salt/modules/state.py`.
 * @module
 */

import { formatEvent } from "#lib/bus/event_text.ts";
import { masterBus, minionBus, minionBusIn } from "#lib/bus/paths.ts";
import { watchBus } from "#lib/bus/watch.ts";
import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";

/** The arguments of `state.event`. */
export interface EventFilter {
  /** A glob or a regular expression. */
  readonly tagmatch: string;
  /** Number of events; negative: as long as the job runs. */
  readonly count: number;
  readonly quiet: boolean;
  readonly sock_dir: string | null;
  readonly pretty: boolean;
  readonly node: string;
}

/** Prints events to this process's standard output until it has printed `count`, or the output is closed. */
export async function awaitEvents(wanted: EventFilter, context: JobContext): Promise<null> {
  const { tagmatch, count, quiet, pretty } = wanted;
  let left = count;
  if (left === 0) return null;
  const onMissed = (missed: number) => context.log("warning", `${missed} events were missed`);
  for await (const event of watchBus(busOf(wanted, context), { tags: tagmatch, signal: context.signal, onMissed })) {
    if (!quiet && !print(`${formatEvent(event, { pretty })}\n`)) return null;
    if (left > 0 && --left === 0) return null;
  }
  return null;
}

function print(line: string): boolean {
  const bytes = new TextEncoder().encode(line);
  try {
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return false;
    throw error;
  }
}

function busOf({ node, sock_dir }: EventFilter, { opts }: JobContext): string {
  if (node === "master") return masterBus(sock_dir ?? opts.sock_dir).pub;
  if (node !== "minion") throw new CommandError(`node must be master or minion, not ${node}`);
  if (sock_dir === null) return minionBus(opts).pub;
  const [bus, ...more] = minionBusIn(sock_dir);
  if (bus !== undefined && more.length === 0) return bus;
  throw new CommandError(
    `${bus === undefined ? "No minion has" : "Several minions have"} an event bus in ${sock_dir}`,
  );
}
