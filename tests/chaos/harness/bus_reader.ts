/**
 * A subscriber of a bus, as a process: counts events of `chaos/` until `chaos/end`, then prints how many it got and
 * missed.
 *
 *     deno run -A tests/chaos/harness/bus_reader.ts /path/to/event_bus_pub.ipc
 *
 * @module
 */

import { EventSubscriber } from "#lib/bus/subscriber.ts";

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

if (import.meta.main) {
  using subscriber = await EventSubscriber.connect(Deno.args[0], ["chaos/"]);
  say("listening");
  let got = 0;
  for (let event = await subscriber.next(); event !== undefined; event = await subscriber.next()) {
    if (event.tag === "chaos/end") break;
    got++;
  }
  say(`end ${got} ${subscriber.missed}`);
  // The bus must get the message that this subscriber reads again.
  await subscriber.next(2_000);
}
