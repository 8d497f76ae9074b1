/**
 * Fires events that a reactor answers, each with a job, and reads the events of the jobs. The counterpart of
 * reactor_load.py.
 *
 * Arguments: the bus's pull socket, its publishing socket, how many events one after the other, how many at once.
 * Writes `{"ms": …, "jobs": …, "seconds": …}`: the median time from an event to its job, and how long all at once took.
 * @module
 */

import { stamp } from "#lib/bus/event.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { map } from "#lib/values/value.ts";

const TAG = "bench/react";
/** Time without an event after which the missing ones count as lost, in milliseconds. */
const SILENCE_MS = 30_000;

const [pull, pub, single, together] = Deno.args;
using events = await EventSubscriber.connect(pub, ["salt/job/"]);
using sender = new EventSender(pull);

async function published(): Promise<boolean> {
  return await events.next(SILENCE_MS, (tag) => tag.endsWith("/new")) !== undefined;
}

const times: number[] = [];
for (let n = 0; n < Number(single); n++) {
  const begun = performance.now();
  await sender.fire(TAG, stamp(map({ n })));
  if (!await published()) break;
  times.push(performance.now() - begun);
}
times.sort((a, b) => a - b);
const begun = performance.now();
for (let n = 0; n < Number(together); n++) await sender.fire(TAG, stamp(map({ n })));
let jobs = 0;
while (jobs < Number(together) && await published()) jobs++;
const seconds = (performance.now() - begun) / 1000;
const result = JSON.stringify({ ms: times[times.length >> 1], jobs, seconds });
Deno.stdout.writeSync(new TextEncoder().encode(result));
Deno.exit(0);
