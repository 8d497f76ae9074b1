/**
 * A collector of spans and metrics: an OTLP endpoint on loopback that keeps what it gets.
 * @module
 */

/** A span as it came. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code: number; readonly message: string };
  /** `service.name` of the program that sent it. */
  readonly service: string;
}

/** A point of a metric as it came last, of one instance of a program. */
export interface CollectedPoint {
  readonly labels: Readonly<Record<string, string>>;
  /** The value, or how many values a histogram has. */
  readonly value: number;
}

interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeMetrics: readonly { readonly metrics: readonly ExportedMetric[] }[];
  }[];
}

interface ExportedPoint {
  readonly attributes: readonly Attribute[];
  readonly asInt?: string;
  readonly asDouble?: number;
  readonly count?: string;
}

interface ExportedMetric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly ExportedPoint[] };
  readonly gauge?: { readonly dataPoints: readonly ExportedPoint[] };
  readonly histogram?: { readonly dataPoints: readonly ExportedPoint[] };
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

interface SpansRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, "service">[] }[];
  }[];
}

/** Keeps the spans that programs send to it in OTLP's JSON. */
export class Collector {
  /** What came, in its order. */
  readonly spans: CollectedSpan[] = [];
  readonly #metrics = new Map<string, ReadonlyMap<string, readonly CollectedPoint[]>>();
  /** The bodies that are not JSON: Python sends Protocol Buffers. */
  readonly packed: Uint8Array[] = [];
  /** The headers of the requests. */
  readonly headers: Headers[] = [];
  /** The status of the answers. */
  status = 200;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      this.headers.push(request.headers);
      if (request.headers.get("content-type") !== "application/json") this.packed.push(await request.bytes());
      else if (this.status === 200) this.#keep(await request.json());
      else await request.body?.cancel();
      return new Response("{}", { status: this.status });
    });
  }

  /** For the option `tracing`. */
  get endpoint(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/v1/traces`;
  }

  /** Whether a packed body has a span of this name in this trace. */
  hasPacked(name: string, traceId: string): boolean {
    const hexName = new TextEncoder().encode(name).toHex();
    return this.packed.map((body) => body.toHex()).some((text) => text.includes(hexName) && text.includes(traceId));
  }

  /** For the option `metrics`. */
  get metricsEndpoint(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/v1/metrics`;
  }

  /** The points of a metric, of all instances. */
  points(name: string): CollectedPoint[] {
    return [...this.#metrics.values()].flatMap((metrics) => [...metrics.get(name) ?? []]);
  }

  /** The sum of the points of a metric that have these labels. */
  total(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = this.points(name).filter((point) =>
      Object.entries(labels).every(([key, text]) => point.labels[key] === text)
    );
    return wanted.reduce((sum, { value }) => sum + value, 0);
  }

  #keepMetrics({ resourceMetrics }: MetricsRequest): void {
    for (const { resource, scopeMetrics } of resourceMetrics) {
      const instance = ["service.name", "service.instance.id"].map((name) =>
        resource.attributes.find(({ key }) => key === name)?.value.stringValue
      ).join(" ");
      const metrics = scopeMetrics.flatMap((scope) => scope.metrics).map((one) => {
        const points = [one.sum, one.gauge, one.histogram].flatMap((kind) => kind?.dataPoints ?? []);
        return [
          one.name,
          points.map(({ attributes, asInt, asDouble, count }) => ({
            labels: Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? ""])),
            value: Number(asInt ?? asDouble ?? count),
          })),
        ] as const;
      });
      this.#metrics.set(instance, new Map(metrics));
    }
  }

  #keep(request: SpansRequest | MetricsRequest): void {
    if ("resourceMetrics" in request) return this.#keepMetrics(request);
    const { resourceSpans } = request;
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === "service.name")?.value.stringValue ?? "";
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span) => ({ ...span, service })));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
