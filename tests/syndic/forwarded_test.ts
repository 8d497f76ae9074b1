/** What a syndic keeps while a higher master is slow. */

import { Forwarded } from "#lib/syndic/forwarded.ts";
import { isMap, map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const forwarded = () => new Forwarded("below", { loadOf: () => Promise.resolve(undefined), hwm: 10 });
const event = (text: string) => ({ tag: "a/b", data: map({ id: "web1", text }) });

Deno.test("events that wait are bounded by their number, and by their bytes", () => {
  const many = forwarded();
  for (let i = 0; i < 20_010; i++) many.add(event(""));
  assertEquals([many.takeEvents().events.length, many.takeEvents().dropped], [20_000, 0]);
  const large = forwarded(), megabyte = "x".repeat(1 << 20);
  for (let i = 0; i < 100; i++) large.add(event(megabyte));
  const { events, dropped } = large.takeEvents();
  assertEquals([events.length, dropped], [63, 37]);
  // They are taken: there is room again.
  large.add(event(megabyte));
  assertEquals(large.takeEvents().events.length, 1);
});

Deno.test("returns of many bytes are to be taken before more of them come", async () => {
  const held = forwarded();
  const add = (id: string) =>
    held.add({
      tag: `salt/job/20260101000000000000/ret/${id}`,
      data: map({ id, jid: "20260101000000000000", fun: "test.echo", return: "x".repeat(1 << 20), retcode: 0 }),
    });
  for (let i = 0; i < 63; i++) add(`m${i}`);
  assertEquals(held.hasManyReturns, false);
  add("m63");
  assertEquals(held.hasManyReturns, true);
  const taken = await held.takeReturns();
  assertEquals(isMap(taken.get("20260101000000000000")?.get("return")), true);
  assertEquals(held.hasManyReturns, false);
});
