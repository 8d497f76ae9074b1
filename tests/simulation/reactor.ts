/**
 * The reactor of a simulated master: the real one with its journal, or with the row of its lease in a cluster. What the
 * files of an event say is decided here: each order is one job on one minion, which has the number of the order.
 * @module
 */

import { packEvent, readMatching, stamp } from "#lib/bus/event.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { peerMark } from "#lib/bus/peer_mark.ts";
import { EventLogReader, type LoggedEvent } from "#lib/event_log/reader.ts";
import { FunctionRequests } from "#lib/master/functions/requests.ts";
import { findProgress } from "#lib/master/reactor/find_progress.ts";
import type { ReactorLease } from "#lib/master/reactor/leased_journal.ts";
import { Performer } from "#lib/master/reactor/performer.ts";
import { ReactorRuns } from "#lib/master/reactor/reactor_runs.ts";
import { publishOwn } from "#lib/master/requests/publish.ts";
import type { MasterServices } from "#lib/master/requests/services.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Reaction } from "#lib/reactor/reaction.ts";
import type { RenderedEvent, RenderEvent } from "#lib/reactor/rendering.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map, str, toNumber } from "#lib/values/value.ts";
import { world } from "#tests/simulation/world/world.ts";

/** The beginning of the tag of an order, which its number follows. */
const ORDER_TAG = "simulated/order/";
/** The longest time that the files of an event take to render, in milliseconds. */
const RENDER_MS = 300;

/** Longer than an event takes to the bus, in milliseconds. */
const FIRED_MS = 100;

/** The option `reactor` of a master. */
export const ORDER_MAP = [map({ [`${ORDER_TAG}*`]: "/srv/reactor/order.sls" })];

/** Starts the reactor of a master, in the current process. */
export function startReactor(
  { opts, log, services, lease, onOrder }: {
    readonly opts: MasterOpts;
    readonly log: Logger;
    readonly services: MasterServices;
    readonly lease: ReactorLease | undefined;
    /** Called with the number of an order and the id of its job, before that is published. */
    onOrder(order: number, jid: string): void;
  },
): void {
  const startedMs = Date.now();
  new ReactorRuns({
    opts,
    log,
    ...lease && { lease },
    reactor: () => ({
      opts,
      log,
      rendering: { render },
      startedMs,
      progressOf: findProgress(opts, async (jid) => await services.jobs.store.getLoad(jid) !== undefined),
      performer: (on) =>
        new Performer({
          ...on,
          user: "root",
          async publish(load, how) {
            onOrder(toNumber(listOrEmpty(load.get("arg"))[0] ?? null) ?? -1, str(load.get("jid") ?? ""));
            await publishOwn(load, services, how);
          },
          functions: new FunctionRequests(() => {}, () => {}),
          running: 1,
          waiting: 1,
        }),
    }),
  });
}

async function render({ data }: RenderEvent): Promise<RenderedEvent> {
  world().note(`renders the order ${data.get("order")}`);
  await sleep(world().random.between(1, RENDER_MS));
  const reaction: Reaction = {
    kind: "local",
    fun: "test.echo",
    args: [data.get("order") ?? null],
    kwargs: new Map(),
    id: "order",
    file: "/srv/reactor/order.sls",
    tgt: data.get("minion") ?? null,
    tgtType: "glob",
    ret: "",
    publish: new Map(),
  };
  return { reactions: [reaction], mistakes: [] };
}

/** Fires an order on a master's bus, as a command of its host does, in the current process. */
export async function fireOrder(opts: MasterOpts, order: number, minion: string): Promise<void> {
  using bus = new EventSender(masterBus(opts.sock_dir).pull);
  await bus.firePacked(packEvent(`${ORDER_TAG}${order}`, stamp(map({ order, minion }))));
  // What is on its way is lost with its connection.
  await sleep(FIRED_MS);
}

/** An order that a master has in its log. */
export interface Order {
  readonly order: number;
  readonly minion: string;
}

/** The events in the log of a master. */
export function loggedEvents(opts: MasterOpts): LoggedEvent[] {
  using reader = new EventLogReader(eventLogDirectory(opts.cachedir));
  reader.seek(0);
  const all: LoggedEvent[] = [];
  for (let { events } = reader.read(); events.length > 0; { events } = reader.read()) all.push(...events);
  return all;
}

/** The orders that were fired on a master's own bus and are in its log. */
export function loggedOrders(opts: MasterOpts): Order[] {
  return loggedEvents(opts).filter(({ frame }) => peerMark(frame) === undefined).flatMap(({ frame }) => {
    const data = readMatching(frame, (tag) => tag.startsWith(ORDER_TAG))?.data;
    const order = toNumber(data?.get("order") ?? null);
    return order === undefined ? [] : [{ order, minion: str(data?.get("minion") ?? "") }];
  });
}
