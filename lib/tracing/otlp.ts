/**
 * Spans in the JSON form of OTLP, OpenTelemetry's protocol, which every collector takes over HTTP.
 * Source: opentelemetry-proto 1, `opentelemetry/proto/trace/v1/trace.proto` and its JSON mapping.
 * @module
 */

import { VERSION } from "#lib/version.ts";

/** What a span's work is to others. */
export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/** The numbers of the kinds. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 };
/** The status of a span that failed. */
const STATUS_ERROR = 2;

/** A span that has ended. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since the epoch, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Why it failed. */
  readonly error?: string;
}

/** The body of a request that exports spans. */
export function otlpTraces(spans: readonly EndedSpan[], resource: Readonly<Record<string, string>>): string {
  return JSON.stringify({
    resourceSpans: [{
      resource: { attributes: otlpAttributes(resource) },
      scopeSpans: [{ scope: { name: "salt", version: VERSION }, spans: spans.map(spanOf) }],
    }],
  });
}

function spanOf(span: EndedSpan): unknown {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...span.parentId !== undefined && { parentSpanId: span.parentId },
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: otlpAttributes(span.attributes),
    ...span.error !== undefined && { status: { code: STATUS_ERROR, message: span.error } },
  };
}

/** A time; 64-bit integers are texts in OTLP's JSON. */
export function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

/** Attributes in OTLP's JSON. */
export function otlpAttributes(attributes: Readonly<Record<string, string | number | boolean>>): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: attributeValue(value) }));
}

function attributeValue(value: string | number | boolean): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
