/** Events of a minion, and masters that refuse them. */

import { RequestTimeoutError, SignInError, WireError } from "#lib/errors.ts";
import { MasterEvents } from "#lib/minion/agent/master_events.ts";
import type { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import { Masters } from "#lib/minion/masters/masters.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

const EVENT = map({ tag: "my/tag", data: 1 });

/** The events of a minion of these masters, each with the error of its answers. */
function eventsTo(answers: Readonly<Record<string, Error | undefined>>) {
  const { log, lines } = memoryLog(), closing = new AbortController();
  const asked: [name: string, load: ValueMap][] = [], failed: [error: unknown, name: string][] = [];
  const all = Object.entries(answers).map(([name, error]) => ({
    name,
    connected: true,
    ask(load: ValueMap) {
      asked.push([name, load]);
      return error === undefined ? Promise.resolve() : Promise.reject(error);
    },
  }));
  const masters = new Masters(all as unknown as MasterConnection[]);
  const events = new MasterEvents(
    {
      opts: { id: "web1" },
      log,
      closing: closing.signal,
      masters: () => masters,
      fail: (error: unknown, { name }: MasterConnection) => void failed.push([error, name]),
    } as unknown as ConstructorParameters<typeof MasterEvents>[0],
  );
  return { events, masters, asked, failed, lines, closing };
}

Deno.test("a master that refuses the minion is the only one of several that an event reports as failed", async () => {
  const refusal = new SignInError("the key was rejected", 77), away = new RequestTimeoutError("tcp://b", 1);
  const { events, masters, asked, failed, lines } = eventsTo({ a: refusal, b: away });
  assertEquals(await events.fire(EVENT, masters), false);
  const load = map({ id: "web1", cmd: "_minion_event", tag: "my/tag", data: 1 });
  assertEquals(asked, [["a", load], ["b", load]]);
  assertEquals(failed, [[refusal, "a"]]);
  assertEquals(lines, [
    "ERROR The master a did not take the event my/tag: the key was rejected",
    `ERROR The master b did not take the event my/tag: ${away.message}`,
  ]);
});

Deno.test("one master that takes an event is enough, and one that refuses the minion is reported all the same", async () => {
  const refusal = new SignInError("no", 77);
  const { events, masters, failed } = eventsTo({ a: refusal, b: undefined });
  assertEquals([await events.fire(EVENT, masters), failed], [true, [[refusal, "a"]]]);
  assertEquals([await events.fire(EVENT, masters.all[1]), failed.length], [true, 1]);
  assertEquals([await events.fire(EVENT, masters.all[0]), failed.length], [false, 2]);
  assertEquals(await events.fire(EVENT, undefined), false);
});

Deno.test("a minion that ends reports no master as failed", async () => {
  const { events, masters, failed, lines, closing } = eventsTo({ a: new SignInError("no", 77) });
  closing.abort(new Error("it ends"));
  assertEquals([await events.fire(EVENT, masters), failed, lines], [false, [], []]);
});

Deno.test("events of beacons that a master refuses are not sent again, and those that none takes are", async () => {
  const sent = (error?: Error) => eventsTo({ a: error }).events.sendTogether([EVENT]);
  const errors = [undefined, new WireError("too much"), new RequestTimeoutError("tcp://a", 1)];
  assertEquals(await Promise.all(errors.map(sent)), ["sent", "refused", "away"]);
});
