/**
 * Subscribers of the event bus that do not read: one stopped for good, one for a while.
 * @module
 */

import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { stamp } from "#lib/bus/event.ts";
import { map } from "#lib/values/value.ts";
import { treeMemory } from "#tests/bench/harness/process_figures.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Service } from "#tests/support/processes.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const LONG = { events: 200_000, bytes: 2_000, others: 7 };
const SHORT = { events: 60_000, bytes: 2_000, others: 3 };
/** Number of events that are sent before waiting for the other subscribers, so that their queues do not overflow. */
const AHEAD = 2_000;
const MEBI = 1024;

/** See {@linkcode Fault}. */
export const stuckSubscriber: Fault = {
  name: "stuck-subscriber",
  what: "a subscriber of the event bus is stopped (SIGSTOP) during a burst of events, and continues later",
  promise: "the others lose nothing, the master's memory is bounded, and dropped events are counted, logged and shown",
  async run({ long, say }): Promise<Figure[]> {
    const { events, bytes, others } = long ? LONG : SHORT;
    await using fleet = await ProcessFleet.start({ minions: 1 });
    const { pub, pull } = masterBus(fleet.masterOpts.sock_dir);
    const reader = new URL("../harness/bus_reader.ts", import.meta.url).pathname;
    // Stopped while it writes the code cache, which all Deno processes of a user share, it would stop their starts too.
    const command = [Deno.execPath(), "run", "-A", "--no-code-cache", reader, pub];
    const stuck = Service.start("reader", command, `${fleet.root}/reader.out`);
    const output = () => Deno.readTextFileSync(stuck.output);
    const subscribers = await Promise.all(
      Array.from({ length: others }, () => EventSubscriber.connect(pub, ["chaos/"])),
    );
    const counts = subscribers.map(() => 0);
    const counting = subscribers.map(async (subscriber, i) => {
      for (let event = await subscriber.next(); event !== undefined; event = await subscriber.next()) counts[i]++;
    });
    try {
      await eventually(() => output().includes("listening"), { what: "the reader" });
      Deno.kill(stuck.pid, "SIGSTOP");
      const before = treeMemory(fleet.master.pid).rssKb;
      let max = before;
      using sender = new EventSender(pull);
      const text = "x".repeat(bytes);
      for (let i = 0; i < events; i++) {
        await sender.fire(`chaos/${i}`, stamp(map({ text })));
        if (i % AHEAD > 0) continue;
        max = Math.max(max, treeMemory(fleet.master.pid).rssKb);
        await eventually(() => Math.min(...counts) > i - AHEAD, { what: "the others", everyMs: 5 });
      }
      await eventually(() => Math.min(...counts) === events, { what: "every event" }).catch(() => {});
      max = Math.max(max, treeMemory(fleet.master.pid).rssKb);
      say(`${events} events of ${bytes} bytes published`);
      const shown = await fleet.salt("salt-run", "--out=json", "bus.subscribers");
      const dropped = Math.max(0, ...[...shown.out.matchAll(/"dropped": (\d+)/g)].map(([, count]) => Number(count)));
      const warnings = (fleet.log("master").match(/does not read/g) ?? []).length;
      Deno.kill(stuck.pid, "SIGCONT");
      // One more event, which the subscriber must get: then it has read all events in its queue.
      let ends = 0;
      await eventually(async () => {
        ends++;
        await sender.fire("chaos/end", map({}));
        return output().includes("end ");
      }, { what: "the reader's end", everyMs: 500 });
      const [, got, missed] = (/end (\d+) (\d+)/.exec(output()) ?? []).map(Number);
      await eventually(() => fleet.log("master").includes("reads again"), { what: "the log" })
        .catch(() => {});
      return [
        { name: "events", value: events },
        { name: "subscribers that read", value: others },
        { name: "fewest events of one of them", value: Math.min(...counts), atLeast: events },
        { name: "the master's memory grew by, MiB", value: Math.round((max - before) / MEBI), atMost: 200 },
        { name: "dropped, by salt-run bus.subscribers", value: dropped, atLeast: 1 },
        { name: "events of the stopped one", value: got },
        { name: "missed, by its own count", value: missed, atLeast: 1 },
        { name: "counted wrongly", value: Math.max(0, events - got - missed, got + missed - events - ends), atMost: 0 },
        { name: "in the log: stuck", value: warnings, atLeast: 1 },
        { name: "in the log: reads again", value: /reads again/.test(fleet.log("master")) ? 1 : 0, atLeast: 1 },
      ];
    } finally {
      for (const subscriber of subscribers) subscriber.close();
      await Promise.all(counting);
      if (stuck.exitCode === undefined) Deno.kill(stuck.pid, "SIGCONT");
      await stuck.stop(5_000);
    }
  },
};
