/**
 * The thread of the master's event bus: a pump, and notes of its sockets in case it dies.
 * @module
 */

import { BusPump } from "./pump.ts";
import type { EventLogSettings } from "./logged_bus.ts";
import type { BusPaths } from "./paths.ts";
import type { SharedPlace } from "#lib/sockets/endpoint.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import { serveThread, surviveErrors } from "#lib/runtime/thread.ts";

/** The thread's settings. */
export interface BusThreadInit {
  readonly paths: BusPaths;
  /** Where Python programs of this host reach it. */
  readonly python: BusPaths;
  /** Number of events queued per subscriber. */
  readonly maxWaitingEvents: number;
  /** Memory for its notes of sockets. */
  readonly sockets: SharedArrayBuffer;
  /** Ids of the users that may listen, besides the master's. */
  readonly listeners: readonly number[];
  /** The address at which the other threads push events. */
  readonly place: SharedPlace;
  /** Where events are kept; absent: they are not. */
  readonly eventLog?: EventLogSettings;
}

serveThread<BusThreadInit>(async (init, { log }) => {
  const { paths, sockets, ...options } = init;
  surviveErrors(log);
  noteSockets(sockets);
  const pump = await BusPump.open(paths, { ...options, log });
  return { describe: () => pump.describe(), close: () => pump.close() };
});
