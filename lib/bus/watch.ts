/**
 * Watches an event bus for the events whose tags match an expression. Subscribes only to the literal prefix of the
 * expression; the data of other events are not read.
 * @module
 */

import { EventSubscriber } from "./subscriber.ts";
import type { BusEvent } from "./event.ts";
import { commonPrefix, compileMatchExpression } from "#lib/text/expr_match.ts";

/** Options of {@linkcode watchBus}. */
export interface WatchOptions {
  /** A glob or a regular expression for tags. */
  readonly tags: string;
  /** Ends the watch when it is aborted. */
  readonly signal: AbortSignal;
  /** Called with the number of events that this watcher has missed so far because it did not read them in time. */
  onMissed?(missed: number): void;
}

/**
 * The events on the bus at `pubPath` from now on, until `signal` is aborted.
 * @throws {NoMasterError} If no bus is running there.
 */
export async function* watchBus(pubPath: string, { tags, signal, onMissed }: WatchOptions): AsyncGenerator<BusEvent> {
  const wanted = compileMatchExpression(tags);
  using events = await EventSubscriber.connect(pubPath, [commonPrefix(tags)]);
  const close = () => events.close();
  signal.addEventListener("abort", close, { once: true });
  let missed = 0;
  try {
    while (!signal.aborted) {
      const event = await events.next(-1, wanted);
      if (events.missed > missed) onMissed?.(missed = events.missed);
      if (event === undefined) return;
      yield event;
    }
  } finally {
    signal.removeEventListener("abort", close);
  }
}
