/**
 * `salt.wait_for_event`: which events count, on the bus of this test. Orchestrations are in tests/system.
 * @module
 */

import { BusPump } from "#lib/bus/pump.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";

const WAIT = { name: "my/tag/*", id_list: ["a", "b", "c"], timeout: 60 };

Deno.test("events count whose tag the glob matches, by the identifiers of their data", async () => {
  const sock_dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = masterBus(sock_dir);
  const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
  try {
    using sender = new EventSender(paths.pull);
    const job = testContext({ opts: testOpts({ sock_dir }) });
    const waiting = callState("salt.wait_for_event", WAIT, { job });
    await eventually(() => bus.describe().includes(" 1 subscribers"), { what: "a subscriber" });
    const events: readonly (readonly [tag: string, data: Record<string, Value>])[] = [
      // The expression matches these as a regular expression; it is a glob here.
      ["my/tag", { id: "a" }],
      ["my/tag", { id: "c" }],
      ["my/tags/1", { id: "a" }],
      ["my/tag/1", { id: "b" }],
      ["my/tag/2", { id: "b" }],
      ["my/tag/3", { id: "other" }],
      ["my/tag/4", { data: map({ id: ["c", "b"] }) }],
      ["my/tag/5", {}],
      ["my/tag/6/7", { id: "a" }],
    ];
    for (const [tag, data] of events) assert(await sender.fire(tag, map(data)));
    const result = await waiting;
    assertEquals(result.get("changes"), map({ minions_seen: ["b", "c", "a"] }));
    assertEquals(result.get("result"), true);
    assertStringIncludes(String(result.get("comment")), "All events seen in ");
  } finally {
    await bus.close();
    Deno.removeSync(sock_dir, { recursive: true });
  }
});

Deno.test("in test mode no event is waited for: there need not be a bus", async () => {
  const job = testContext({ opts: testOpts({ sock_dir: "/nowhere" }) });
  const result = await callState("salt.wait_for_event", WAIT, { job, test: true });
  assertEquals([result.get("result"), result.get("comment")], [
    null,
    "Orchestration would wait for event 'my/tag/*'",
  ]);
  assertEquals(result.get("changes"), new Map());
});

Deno.test("a state that waits too long fails with what it has seen", async () => {
  const sock_dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = masterBus(sock_dir);
  const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
  try {
    using sender = new EventSender(paths.pull);
    const job = testContext({ opts: testOpts({ sock_dir }) });
    const waiting = callState("salt.wait_for_event", { ...WAIT, timeout: 1 }, { job });
    await eventually(() => bus.describe().includes(" 1 subscribers"), { what: "a subscriber" });
    assert(await sender.fire("my/tag/1", map({ id: "b" })));
    const result = await waiting;
    assertEquals([result.get("result"), result.get("comment"), result.get("changes")], [
      false,
      "Timeout value reached.",
      map({ minions_seen: ["b"] }),
    ]);
  } finally {
    await bus.close();
    Deno.removeSync(sock_dir, { recursive: true });
  }
});
