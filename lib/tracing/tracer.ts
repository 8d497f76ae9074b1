/**
 * Makes the spans of this thread, and exports them. Deno's own OpenTelemetry is not used: an environment variable
 * switches it on before a program starts, and Salt's option stands in a file that the program reads.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { type EndedSpan, otlpTraces, type SpanKind } from "./otlp.ts";
import type { TraceContext } from "./trace_context.ts";
import { readTracing, type TracingSettings } from "./tracing_settings.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Spans that wait for the collector; the oldest ones are dropped beyond it. */
const MOST_WAITING = 2_048;
/** Spans of one request. */
const MOST_SENT = 512;
/** Longest wait of a span, and of a request, in milliseconds. */
const EXPORT_MS = 1_000, REQUEST_MS = 10_000;
/** Longest text of an attribute. */
const MAX_TEXT = 1_024;

/** How a span begins. */
export interface SpanStart {
  /** Default: `internal`. */
  readonly kind?: SpanKind;
  /** Default: it is the root of a new trace. */
  readonly parent?: TraceContext;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Milliseconds since the epoch. Default: now. */
  readonly startMs?: number;
}

/** Work that is being done. */
export interface TraceSpan {
  /** The parent of what it causes. */
  readonly context: TraceContext;
  /** It has ended; further calls do nothing. */
  end(outcome?: { readonly error?: string; readonly endMs?: number }): void;
}

/**
 * The tracer of a program or a thread, if its configuration asks for one. What is wrong there is logged, and nothing is
 * traced.
 * @param service The program's name unless the configuration has one.
 */
export function openTracer(option: ValueMap, service: string, log: Logger): Tracer | undefined {
  const settings = readTracing(option, service);
  if (typeof settings === "string") log.error(settings);
  return settings === undefined || typeof settings === "string" ? undefined : new Tracer(settings, log);
}

/** Makes spans and exports them in batches. */
export class Tracer {
  readonly #settings: TracingSettings;
  readonly #log: Logger;
  #waiting: EndedSpan[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> = Promise.resolve();
  #dropped = 0;
  #isAway = false;

  constructor(settings: TracingSettings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Begins a span. */
  start(name: string, { kind = "internal", parent, attributes = {}, startMs = nowMs() }: SpanStart = {}): TraceSpan {
    const traceId = parent?.traceId ?? hex(16);
    const isSampled = this.#samples(traceId, parent);
    const context = { traceId, spanId: hex(8), isSampled, ...parent?.state !== undefined && { state: parent.state } };
    let isOpen = isSampled;
    return {
      context,
      end: ({ error, endMs = nowMs() } = {}) => {
        if (!isOpen) return;
        isOpen = false;
        this.#add({
          traceId,
          spanId: context.spanId,
          parentId: parent?.spanId,
          name,
          kind,
          startMs,
          endMs: Math.max(startMs, endMs),
          attributes: Object.fromEntries(
            Object.entries(attributes).map(([key, value]) => [key, typeof value === "string" ? cut(value) : value]),
          ),
          ...error !== undefined && { error: cut(error) },
        });
      },
    };
  }

  /** Runs `work` in a span, which fails if it throws. */
  async within<T>(name: string, start: SpanStart, work: (context: TraceContext) => Promise<T> | T): Promise<T> {
    const span = this.start(name, start);
    try {
      const result = await work(span.context);
      span.end();
      return result;
    } catch (error) {
      span.end({ error: messageOf(error) });
      throw error;
    }
  }

  /** Exports what waits, and ends. It takes at most `withinMs`. */
  async close(withinMs = 2_000): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const late = AbortSignal.timeout(withinMs);
    await this.#sending;
    while (this.#waiting.length > 0 && !late.aborted && await this.#send(late));
  }

  /** As OpenTelemetry's samplers decide. */
  #samples(traceId: string, parent: TraceContext | undefined): boolean {
    const { sampler, ratio } = this.#settings;
    if (sampler === "always_on") return true;
    if (sampler === "always_off") return false;
    if (sampler === "parent_based" && parent !== undefined) return parent.isSampled;
    return BigInt(`0x${traceId.slice(16)}`) < BigInt(Math.round(ratio * 2 ** 32)) << 32n;
  }

  #add(span: EndedSpan): void {
    this.#waiting.push(span);
    if (this.#waiting.length > MOST_WAITING) this.#dropped += this.#waiting.splice(0, MOST_SENT).length;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#sendAll();
    }, EXPORT_MS);
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (await this.#send(AbortSignal.timeout(REQUEST_MS))) continue;
      // They wait for the next try, however many end meanwhile.
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#sending = this.#sendAll();
      }, REQUEST_MS);
      return;
    }
  }

  /** @returns Whether the first waiting spans are exported. */
  async #send(signal: AbortSignal): Promise<boolean> {
    const spans = this.#waiting.slice(0, MOST_SENT);
    try {
      await this.#export(otlpTraces(spans, this.#settings.resource), signal);
    } catch (error) {
      if (!this.#isAway) {
        this.#log.warning(`Spans cannot be exported to ${this.#settings.endpoint}: ${messageOf(error)}`);
      }
      this.#isAway = true;
      return false;
    }
    this.#waiting = this.#waiting.filter((span) => !spans.includes(span));
    if (this.#isAway) this.#log.warning(`Spans are exported again; ${this.#dropped} are lost`);
    this.#isAway = false;
    this.#dropped = 0;
    return true;
  }

  async #export(body: string, signal: AbortSignal): Promise<void> {
    const { endpoint, headers } = this.#settings;
    const answer = await fetch(endpoint, {
      method: "POST",
      body,
      headers: { ...headers, "content-type": "application/json" },
      signal,
      redirect: "error",
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the collector answered ${answer.status}`);
  }
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT);
}

/** Random bytes, not all 0, in hexadecimal. */
function hex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  if (random.every((byte) => byte === 0)) random[bytes - 1] = 1;
  return random.toHex();
}
