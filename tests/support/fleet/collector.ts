/**
 * A collector of spans: an OTLP endpoint on loopback that keeps what it gets.
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

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, "service">[] }[];
  }[];
}

/** Keeps the spans that programs send to it in OTLP's JSON. */
export class Collector {
  /** What came, in its order. */
  readonly spans: CollectedSpan[] = [];
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

  #keep({ resourceSpans }: ExportRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === "service.name")?.value.stringValue ?? "";
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span) => ({ ...span, service })));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
