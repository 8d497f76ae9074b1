/** @module */
import { FiredReturns } from "#lib/jobs/fired_returns.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a return that one thread has published is not new to the others; one of another job or minion is", () => {
  const first = new FiredReturns();
  const second = new FiredReturns(first.memory);
  const jid = "20261128044411235656";
  assertEquals([first.addNew(jid, "web1"), second.addNew(jid, "web1"), first.addNew(jid, "web1")], [
    true,
    false,
    false,
  ]);
  assertEquals([second.addNew(jid, "web2"), first.addNew(jid, "web2")], [true, false]);
  assertEquals(first.addNew("20261128044411235657", "web1"), true);
  assertEquals(second.addNew(jid, "web1"), false, "a later job of the same minion is beside it");
});
