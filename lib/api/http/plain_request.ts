/**
 * A request of `node:http` in the terms of the API.
 * @module
 */

import type { IncomingMessage } from "node:http";
import type { IncomingRequest } from "./exchange.ts";

/**
 * A request. Its headers, its body and its signal are made when they are asked for: most requests need neither of the
 * latter, and reading `headers` throws a TypeError where one cannot be one, which the parser of Node refuses already.
 */
export class PlainRequest implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly #message: IncomingMessage;
  #headers: Headers | undefined;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | null | undefined;
  #abort: AbortController | undefined;
  #isGone = false;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.method = message.method ?? "";
    this.url = urlOf(message);
  }

  get headers(): Headers {
    return this.#headers ??= headersOf(this.#message.rawHeaders);
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.#body ??= hasBody(this.#message) ? bodyOf(this.#message) : null;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isGone) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  /** The client has gone before the answer was sent. */
  gone(): void {
    this.#isGone = true;
    this.#abort?.abort();
  }

  /** For the handshake of the runtime, which looks at its headers alone. */
  toRequest(): Request {
    return new Request("http://localhost/", { method: this.method, headers: this.headers });
  }
}

/** @param raw Names and values in turn. */
function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < raw.length; i += 2) headers.append(raw[i], raw[i + 1]);
  return headers;
}

/** A target is a path, or as proxies send it, a whole URL. */
function urlOf({ url = "/", headers }: IncomingMessage): string {
  if (/^https?:\/\//i.test(url)) return url;
  return `http://${headers.host ?? ""}${url.startsWith("/") ? "" : "/"}${url}`;
}

/** Whether it says that a body follows. As in `Deno.serve`, that of a GET or a HEAD is not read. */
function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === "GET" || method === "HEAD") return false;
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/**
 * Reads no more than what is asked for. After it is cancelled the rest is dropped: the next request of the connection
 * comes after it.
 */
function bodyOf(message: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOver = false;
  return new ReadableStream({
    start(control) {
      message.on("data", (piece: Uint8Array<ArrayBuffer>) => {
        if (isOver) return;
        control.enqueue(piece);
        if ((control.desiredSize ?? 0) <= 0) message.pause();
      });
      message.once("end", () => {
        if (isOver) return;
        isOver = true;
        control.close();
      });
      message.once("close", () => {
        if (isOver) return;
        isOver = true;
        control.error(new Error("the client has gone"));
      });
    },
    pull: () => void message.resume(),
    cancel() {
      isOver = true;
      message.resume();
    },
  });
}
