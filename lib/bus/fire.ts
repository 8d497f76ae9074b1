/**
 * Fires one event on a bus of this host and waits until it arrives: a command may exit right afterwards, and libzmq
 * drops what an ending process has not passed on.
 * @module
 */

import { NoMasterError } from "#lib/errors.ts";
import { type EventData, packEvent, stamp } from "./event.ts";
import { EventSubscriber } from "./subscriber.ts";
import { EventSender } from "./sender.ts";
import type { BusPaths } from "./paths.ts";

/** Maximum time for an event to arrive, in milliseconds. */
const ARRIVAL_MS = 2_000;

/**
 * Stamps `data` and fires it.
 * @returns Whether the event arrived; false if no bus is running.
 */
export async function fireEvent(paths: BusPaths, tag: string, data: EventData): Promise<boolean> {
  if (!await isServed(paths.pub)) return false;
  try {
    using events = await EventSubscriber.connect(paths.pub, [tag]);
    using sender = new EventSender(paths.pull);
    const event = packEvent(tag, stamp(data));
    const deadline = performance.now() + ARRIVAL_MS;
    await sender.firePacked(event, ARRIVAL_MS);
    // Compares bytes: decoding the result of a runner again would cost as much as packing it.
    return await events.passes(event, deadline - performance.now());
  } catch (error) {
    if (error instanceof NoMasterError) return false;
    throw error;
  }
}

/** Whether a process listens on the Unix socket `path`. The socket file of a dead service does not count. */
export async function isServed(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch (error) {
    const absent = [Deno.errors.NotFound, Deno.errors.ConnectionRefused, Deno.errors.PermissionDenied];
    if (absent.some((kind) => error instanceof kind)) return false;
    throw error;
  }
}
