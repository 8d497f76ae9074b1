/**
 * A master's schedule: its runners run, and their returns are events of its bus.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

fleetTest("a master runs the runners of its schedule, and a broken entry stops no other", {
  master: {
    schedule: { bad: "text", echo: { function: "test.arg", args: [1], kwargs: { k: "v" }, seconds: 1 } },
  },
}, async (fleet) => {
  using events = await fleet.listen("__schedule_return");
  const event = await events.next(WITHIN_MS);
  assert(event !== undefined);
  const { data } = event;
  assertEquals([data.get("schedule"), data.get("fun"), data.get("jid"), data.get("success")], [
    "echo",
    "test.arg",
    "req",
    true,
  ]);
  assertEquals([data.get("fun_args"), data.get("return")], [
    [1, map({ k: "v" })],
    map({ args: [1], kwargs: { k: "v" } }),
  ]);
});
