/**
 * One HTTP request, with redirections followed, with the arguments of Salt's `http.query`.
 * Source: Salt 3008.3, `salt/utils/http.py`; tornado.httpclient.
 * @module
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import { messageOf } from "#lib/errors.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

/** A request, with its time limit. */
export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body?: Uint8Array | string;
  /** `user:password` for basic authentication. */
  readonly auth?: string;
  /** Whether the server's certificate is checked. */
  readonly verify: boolean;
  /** PEM of the authorities, in place of the runtime's. */
  readonly ca?: string;
  /** PEM of this side's certificate and of its key. */
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds for all of it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly reason: string;
  /** Headers by name, such as `Content-Type`; several values of a name are joined by commas. */
  readonly headers: Map<string, string>;
  readonly body: Uint8Array;
}

/** Maximum number of redirections, and maximum bytes of a body. */
const MAX_REDIRECTS = 5, MAX_BODY = 256 << 20;
/** Status codes of redirections. */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** A request that got no response. */
export class HttpError extends Error {
  override name = "HttpError";
}

/**
 * Sends a request, and follows redirections.
 * @throws {HttpError} Without a response.
 */
export async function httpRequest(request: HttpRequest): Promise<HttpResponse> {
  let current = request;
  for (let i = 0;; i++) {
    const response = await send(current);
    const place = response.headers.get("Location");
    if (!REDIRECTS.includes(response.status) || place === undefined || i === MAX_REDIRECTS) return response;
    const url = new URL(place, current.url);
    if (!isHttp(url)) throw new HttpError(`A redirection to ${url.protocol} is not followed`);
    const elsewhere = url.host !== new URL(current.url).host;
    const becomesGet = response.status === 303 || (response.status <= 302 && current.method === "POST");
    const dropped = [...becomesGet ? [/^content-/i] : [], ...elsewhere ? [/^(cookie|authorization)$/i] : []];
    current = {
      ...current,
      url: url.href,
      headers: new Map([...current.headers].filter(([name]) => !dropped.some((one) => one.test(name)))),
      ...becomesGet && { method: "GET", body: undefined },
      // Passwords and cookies are not sent to another host.
      ...elsewhere && { auth: undefined },
    };
  }
}

function isHttp({ protocol }: URL): boolean {
  return protocol === "http:" || protocol === "https:";
}

async function send(request: HttpRequest): Promise<HttpResponse> {
  const url = parseUrl(request.url);
  const { request: start } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
  const options = {
    method: request.method,
    headers: { Connection: "close", ...Object.fromEntries(request.headers) },
    ...request.auth !== undefined && { auth: request.auth },
    ...url.protocol === "https:" && {
      rejectUnauthorized: request.verify,
      ...request.ca !== undefined && { ca: request.ca },
      ...request.cert !== undefined && { cert: request.cert, key: request.key ?? request.cert },
    },
  };
  const outgoing: ClientRequest = start(url, options, (incoming: IncomingMessage) => {
    collect(incoming).then(resolve, reject);
  });
  const stop = (reason: Error) => {
    outgoing.destroy();
    reject(reason);
  };
  const timer = setTimeout(() => stop(new HttpError("HTTP 599: Timeout during request")), request.timeoutMs);
  const abort = () => stop(new HttpError("The job was told to end"));
  request.signal.addEventListener("abort", abort);
  // It may have ended before there was a request to stop.
  if (request.signal.aborted) abort();
  outgoing.on("error", (error: Error) => reject(new HttpError(networkText(error))));
  outgoing.end(request.body);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", abort);
    outgoing.destroy();
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !isHttp(url)) throw new HttpError(`Unsupported url: ${text}`);
  return url;
}

/**
 * All bytes of a stream.
 * @throws {HttpError} If they are too many, or the stream breaks.
 */
async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of stream) {
      size += piece.length;
      if (size > MAX_BODY) throw new HttpError(`The response has more than ${MAX_BODY} bytes`);
      pieces.push(new Uint8Array(piece));
    }
  } catch (error) {
    throw error instanceof HttpError ? error : new HttpError(messageOf(error));
  }
  return joinBytes(pieces);
}

async function collect(incoming: IncomingMessage): Promise<HttpResponse> {
  const body = await bytesOf(incoming);
  const headers = new Map<string, string>();
  for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
    const name = incoming.rawHeaders[i].split("-").map((part) =>
      part.charAt(0).toUpperCase() + part.slice(1).toLowerCase()
    )
      .join("-");
    const value = incoming.rawHeaders[i + 1];
    headers.set(name, headers.has(name) ? `${headers.get(name)},${value}` : value);
  }
  return {
    status: incoming.statusCode ?? 0,
    reason: incoming.statusMessage ?? "",
    headers,
    body: await decompress(body, headers.get("Content-Encoding")),
  };
}

async function decompress(bytes: Uint8Array<ArrayBuffer>, coding = "identity"): Promise<Uint8Array> {
  const format = coding === "gzip" ? "gzip" : coding === "deflate" ? "deflate" : undefined;
  if (format === undefined || bytes.length === 0) return bytes;
  return await bytesOf(new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)));
}

/** Python's texts for the most frequent errors. */
function networkText(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  if (code === "ECONNREFUSED") return "[Errno 111] Connection refused";
  if (code === "ENOTFOUND" || /failed to lookup/.test(error.message)) return "[Errno -2] Name or service not known";
  return error.message;
}
