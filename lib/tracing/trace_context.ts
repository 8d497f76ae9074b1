/**
 * The place of a call in a trace, as it travels: W3C's `traceparent` and `tracestate`, plain keys of a request's load,
 * of a publish and of an event's data.
 * Source: W3C Trace Context 1; Salt 3008.3 `salt/utils/tracing.py`.
 * @module
 */

import type { Value, ValueMap } from "#lib/values/value.ts";

/** A span that others are children of. */
export interface TraceContext {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all 0. */
  readonly spanId: string;
  /** Whether its spans are exported. */
  readonly isSampled: boolean;
  /** What vendors add; it is handed on as it came. */
  readonly state?: string;
}

/** The keys that hold a trace's context. */
export const TRACE_KEYS = ["traceparent", "tracestate"] as const;

/** Version 0, and later ones, which may have more fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
/** Most characters of `tracestate` that are handed on; the standard asks for at least 512. */
const MAX_STATE = 512;
/** The flag of a trace whose spans are exported. */
const SAMPLED = 1;

/** Reads a trace's context out of a load that came off the wire; anything else than a right one counts as none. */
export function readTrace(load: ReadonlyMap<Value, Value>): TraceContext | undefined {
  const text = load.get("traceparent");
  const match = typeof text === "string" && text.length <= MAX_STATE ? TRACEPARENT.exec(text) : null;
  if (match === null) return undefined;
  const [, traceId, spanId, flags] = match;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const state = load.get("tracestate");
  return {
    traceId,
    spanId,
    isSampled: (parseInt(flags, 16) & SAMPLED) !== 0,
    ...typeof state === "string" && state !== "" && state.length <= MAX_STATE && /^[ -~]+$/.test(state) && { state },
  };
}

/** Writes a trace's context into a load. One that is not sampled is not written, as in Salt. */
export function writeTrace(load: ValueMap, context: TraceContext | undefined): void {
  if (context === undefined || !context.isSampled) return;
  load.set("traceparent", `00-${context.traceId}-${context.spanId}-01`);
  if (context.state !== undefined) load.set("tracestate", context.state);
}
