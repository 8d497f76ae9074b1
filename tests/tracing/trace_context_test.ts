/**
 * A trace's context off the wire: only a right one counts.
 * @module
 */

import { readTrace, writeTrace } from "#lib/tracing/trace_context.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c", SPAN = "b7ad6b7169203331";

Deno.test("a context is read and written as W3C's standard says", () => {
  const load = map({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=1" });
  const context = readTrace(load);
  assertEquals(context, { traceId: TRACE, spanId: SPAN, isSampled: true, state: "vendor=1" });
  const written = map({});
  writeTrace(written, context);
  assertEquals(written, load);
  assertEquals(readTrace(map({ traceparent: `cc-${TRACE}-${SPAN}-00-more` }))?.isSampled, false);
  const none = map({});
  writeTrace(none, { traceId: TRACE, spanId: SPAN, isSampled: false });
  writeTrace(none, undefined);
  assertEquals(none, map({}));
});

Deno.test("anything else counts as no context", () => {
  for (
    const traceparent of [
      null,
      1,
      "",
      TRACE,
      `ff-${TRACE}-${SPAN}-01`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE}-${SPAN}-01-${"x".repeat(600)}`,
      `00-${TRACE}-${SPAN}-01\n`,
    ]
  ) assertEquals(readTrace(map({ traceparent })), undefined, String(traceparent));
  for (const tracestate of [null, 1, "a\nb", "x".repeat(513)]) {
    assertEquals(readTrace(map({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate }))?.state, undefined);
  }
});
