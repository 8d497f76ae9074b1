/**
 * The spans of a result's states.
 * @module
 */

import { traceStates } from "#lib/tracing/state_spans.ts";
import type { Tracer } from "#lib/tracing/tracer.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const PARENT = { traceId: "f".repeat(32), spanId: "1".repeat(16), isSampled: true };

/** The names of the spans, with their ends and errors. */
function spansOf(returned: Value): unknown[] {
  const spans: unknown[] = [];
  const start: Tracer["start"] = (name, { startMs = 0 } = {}) => ({
    context: PARENT,
    end: ({ endMs = 0, error } = {}) => void spans.push([name, endMs - startMs, error]),
  });
  traceStates(returned, { parent: PARENT, startMs: 1_000 }, { start });
  return spans;
}

Deno.test("each state of a result has a span, and what is none has not", () => {
  const good = map({ name: "/etc/motd", result: true, comment: "fine", duration: 12.5, start_time: "12:00:00.000000" });
  const bad = map({ result: false, comment: "broken" });
  const result = new Map<Value, Value>([
    ["file_|-motd_|-/etc/motd_|-managed", good],
    ["cmd_|-broken_|-false_|-run", bad],
    ["retcode", 2],
    ["file_|-motd_|-managed", good],
    ["file_|-other_|-/etc/other_|-managed", "no map"],
  ]);
  assertEquals(spansOf(result), [["state: motd | file.managed", 12.5, undefined], [
    "state: broken | cmd.run",
    0,
    "broken",
  ]]);
  for (const other of ["text", null, ["Rendering SLS failed"], true]) assertEquals(spansOf(other), []);
});
