/**
 * The spans of a request's parts.
 * @module
 */

import type { TraceContext } from "#lib/tracing/trace_context.ts";
import type { Tracer } from "#lib/tracing/tracer.ts";

/** Where the spans of a request belong. */
export interface RequestTrace {
  readonly tracer: Tracer;
  /** The span of the request. */
  readonly context: TraceContext;
}

/** Does a part of a request, in a span of its own if the request is traced. */
export async function inSpan<T>(
  trace: RequestTrace | undefined,
  name: string,
  work: () => Promise<T> | T,
): Promise<T> {
  return trace === undefined ? await work() : await trace.tracer.within(name, { parent: trace.context }, work);
}
