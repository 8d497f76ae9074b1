/**
 * Reads events of the bus.
 * @module
 */

import { type BusEvent, unpackMatching } from "#lib/bus/event.ts";
import { assert } from "#tests/support/assert.ts";

/**
 * The event in `frame`.
 * @throws {WireError} If it holds none.
 */
export function unpackEvent(frame: Uint8Array): BusEvent {
  const event = unpackMatching(frame, () => true);
  assert(event !== undefined);
  return event;
}
