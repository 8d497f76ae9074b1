/**
 * What must be true of the events of a cluster's masters: each of them has each shared event of the other once, and
 * those of a master in their order.
 * @module
 */

import { tagEnd } from "#lib/bus/event.ts";
import { peerMark } from "#lib/bus/peer_mark.ts";
import { isShared } from "#lib/cluster/shared_events.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import { loggedEvents } from "./reactor.ts";

/** The number of the next event in the log of each master. */
export function eventEnds(masters: readonly MasterOpts[]): number[] {
  return masters.map(({ cachedir }) => {
    using reader = new EventLogReader(eventLogDirectory(cachedir));
    reader.seekEnd();
    return reader.next;
  });
}

/** What is in the log of a master: its own shared events, and those of others by the name of their master. */
interface Kept {
  readonly own: readonly number[];
  readonly others: ReadonlyMap<string, readonly number[]>;
}

function keptOf(opts: MasterOpts): Kept {
  const own: number[] = [], others = new Map<string, number[]>();
  for (const { number, frame } of loggedEvents(opts)) {
    const mark = peerMark(frame);
    if (mark !== undefined) others.set(mark.id, [...others.get(mark.id) ?? [], mark.seq]);
    else if (isShared(new TextDecoder().decode(frame.subarray(0, tagEnd(frame))))) own.push(number);
  }
  return { own, others };
}

/**
 * What is wrong, each in a line.
 * @param begins The numbers of the first own events that each master's others must have.
 * @param ends Those before which they must have all.
 */
export function brokenEvents(
  masters: readonly MasterOpts[],
  begins: readonly number[],
  ends: readonly number[],
): string[] {
  const kept = masters.map(keptOf);
  return kept.flatMap(({ own }, i) =>
    kept.flatMap(({ others }, j) => {
      if (i === j) return [];
      const taken = others.get(masters[i].id) ?? [], known = new Set(taken);
      const what = `events of ${masters[i].id} at ${masters[j].id}`;
      const missing = own.filter((number) => number >= begins[i] && number < ends[i] && !known.has(number));
      return [
        ...taken.length > known.size ? [`${taken.length - known.size} ${what} are there twice`] : [],
        ...taken.some((seq, n) => n > 0 && seq < taken[n - 1]) ? [`${what} are not in their order`] : [],
        ...missing.length > 0 ? [`${missing.length} ${what} are missing, the first is ${missing[0]}`] : [],
      ];
    })
  );
}
