/**
 * The thread of the master's event bus: a pump, and notes of its sockets for the case that it dies.
 * @module
 */

import { BusPump } from "./pump.ts";
import type { BusPaths } from "./paths.ts";
import type { SharedPlace } from "../sockets/endpoint.ts";
import { noteSockets } from "../sockets/context.ts";
import { serveThread, surviveErrors } from "../process/thread.ts";

/** What the thread starts with. */
export interface BusThreadInit {
  readonly paths: BusPaths;
  /** How many events are kept for a subscriber. */
  readonly keptEvents: number;
  /** Where it notes its sockets. */
  readonly sockets: SharedArrayBuffer;
  /** The ids of the users who may listen beside the master's. */
  readonly listeners: readonly number[];
  /** Where the other threads push their events. */
  readonly place: SharedPlace;
}

serveThread<BusThreadInit>(async ({ paths, keptEvents, sockets, place, listeners }, { log }) => {
  surviveErrors(log);
  noteSockets(sockets);
  const pump = await BusPump.open(paths, { log, keptEvents, place, listeners });
  return { describe: () => pump.describe(), close: () => pump.close() };
});
