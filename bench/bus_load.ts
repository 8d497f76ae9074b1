/**
 * Events through a master's bus to several subscribers, each a process of its own that reads what it gets. The counterpart
 * of bus_load.py.
 *
 * Arguments: the bus's pull socket, its publishing socket, how many subscribers, how many events. Writes
 * `{"events": …, "seconds": …}`: from the first event that was fired to the last that the last subscriber has read.
 * @module
 */

import { stamp } from "../lib/event.ts";
import { EventSender, EventSubscriber } from "../lib/event_bus.ts";
import { map } from "../lib/value.ts";
import { benchCommand } from "./sides.ts";

const TAG = "bench/event";
/** How long no event may come before they are taken for lost, in milliseconds. */
const SILENCE_MS = 30_000;

/** Reads so many events. @returns When the last one was read, in milliseconds since the epoch. */
async function listen(pub: string, count: number): Promise<number> {
  using events = await EventSubscriber.connect(pub, [TAG]);
  Deno.stdout.writeSync(new TextEncoder().encode("ready\n"));
  for (let i = 0; i < count; i++) {
    const event = await events.next(SILENCE_MS);
    if (event === undefined) throw new Error(`only ${i} of ${count} events came`);
    if (event.data.get("n") !== i) throw new Error(`event ${i} is ${event.data.get("n")}`);
  }
  return Date.now();
}

async function load(paths: { pull: string; pub: string }, subscribers: number, count: number) {
  const [command, ...args] = benchCommand("bus_load.ts");
  const children = Array.from(
    { length: subscribers },
    () => new Deno.Command(command, { args: [...args, "--listen", paths.pub, String(count)], stdout: "piped" }).spawn(),
  );
  const outputs = children.map((child) => child.stdout.pipeThrough(new TextDecoderStream()).getReader());
  for (const output of outputs) if ((await output.read()).value !== "ready\n") throw new Error("no subscription");
  const from = Date.now();
  using sender = new EventSender(paths.pull);
  const data = { jid: "20261121120000000000", id: "web1", return: "x".repeat(100), retcode: 0, success: true };
  for (let n = 0; n < count; n++) await sender.fire(TAG, stamp(map({ ...data, n })));
  const ends = await Promise.all(outputs.map(async (output) => Number((await output.read()).value)));
  await Promise.all(children.map((child) => child.status));
  if (ends.some(Number.isNaN)) throw new Error("a subscriber did not get all events");
  return { events: count, seconds: (Math.max(...ends) - from) / 1000 };
}

if (import.meta.main) {
  const done = Deno.args[0] === "--listen"
    ? await listen(Deno.args[1], Number(Deno.args[2]))
    : await load({ pull: Deno.args[0], pub: Deno.args[1] }, Number(Deno.args[2]), Number(Deno.args[3]));
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(done)));
  Deno.exit(0);
}
