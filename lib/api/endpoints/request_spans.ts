/**
 * The spans of requests: each is the root of what it causes, or goes on with the trace of its client. Without the
 * master's option `tracing` there are none.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { messageOf } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { tracerOf } from "#lib/tracing/late_tracer.ts";
import { readTrace, TRACE_KEYS } from "#lib/tracing/trace_context.ts";
import type { Tracer } from "#lib/tracing/tracer.ts";
import { truthy, type Value } from "#lib/values/value.ts";
import type { ApiRequest } from "./endpoint.ts";

/** A request that may be traced. */
interface SpannedCall<T> {
  /** The path of the table of routes. */
  readonly route: string;
  /** Whether requests of this kind are. */
  readonly isTraced: boolean;
  handle(request: ApiRequest): T | Promise<T>;
}

/** The spans of one API. */
export class RequestSpans {
  readonly #tracer: Promise<Tracer | undefined> | undefined;

  constructor({ tracing }: Pick<MasterOpts, "tracing">, log: Logger) {
    if (truthy(tracing.get("enabled") ?? false)) this.#tracer = tracerOf(tracing, "salt-api", log);
  }

  /** Answers a request, in a span of its own if it is to be traced. */
  async around<T>(request: ApiRequest, { route, isTraced, handle }: SpannedCall<T>): Promise<T> {
    const tracer = isTraced ? await this.#tracer : undefined;
    if (tracer === undefined) return await handle(request);
    const { method, headers } = request.request;
    const given = new Map<Value, Value>(TRACE_KEYS.flatMap((key) => {
      const text = headers.get(key);
      return text === null ? [] : [[key, text]];
    }));
    const span = tracer.start(`salt.api ${method} ${route}`, {
      kind: "server",
      parent: readTrace(given),
      attributes: { "http.request.method": method, "http.route": route },
    });
    try {
      const reply = await handle({ ...request, trace: span.context });
      span.end();
      return reply;
    } catch (error) {
      // What the caller did wrong is no error of the span, as OpenTelemetry has it for servers.
      span.end(error instanceof ApiError && error.status < 500 ? {} : { error: messageOf(error) });
      throw error;
    }
  }

  /** Exports the last spans. */
  async close(): Promise<void> {
    await (await this.#tracer)?.close();
  }
}
