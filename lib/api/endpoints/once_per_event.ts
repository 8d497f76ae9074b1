/**
 * What is sent for an event, made once for all streams that send it.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";

/** The same as `make`, which is called once for each event and as long as it is there. */
export function oncePerEvent<Event extends BusEvent, Made extends NonNullable<unknown>>(
  make: (event: Event) => Made,
): (event: Event) => Made {
  const made = new WeakMap<Event, Made>();
  return (event) => {
    const known = made.get(event) ?? make(event);
    made.set(event, known);
    return known;
  };
}
