/**
 * HTTP over TLS, by `Deno.serve`: browsers have HTTP/2 with it.
 * @module
 */

import { dropBody, HttpAnswer, type HttpServer, type HttpServerParts, type PushedBody } from "./exchange.ts";

/** Pieces that the runtime holds for a connection. */
const HIGH_WATER = 64;

/**
 * Starts to serve.
 * @throws What listening throws.
 */
export function startTlsServer(
  { hostname, port, handle, failed }: HttpServerParts,
  keys: Deno.TlsCertifiedKeyPem,
): HttpServer {
  const onError = (error: unknown) => responseOf(failed(error));
  return Deno.serve({ hostname, port, ...keys, onListen: () => {}, onError }, async (request, info) => {
    // Asked for now: an upgraded request does not tell any more.
    const { remoteAddr, completed } = info;
    const upgrade = () => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      return { socket, answer: new HttpAnswer({ upgraded: response }, { status: 101 }) };
    };
    const answer = await handle(request, { remoteAddr, completed, upgrade });
    if (request.method !== "HEAD") return responseOf(answer);
    await dropBody(answer.body);
    return new Response(null, { status: answer.status, headers: answer.headers });
  });
}

function responseOf({ status, headers, body }: HttpAnswer): Response {
  if (body === null || typeof body !== "object" || body instanceof Uint8Array || body instanceof ReadableStream) {
    return new Response(body, { status, headers });
  }
  if ("pushed" in body) return new Response(streamOf(body.pushed), { status, headers });
  if (body.upgraded === undefined) throw new TypeError("this is no WebSocket");
  return body.upgraded;
}

function streamOf(body: PushedBody): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(control) {
      body.begin({
        write(piece) {
          control.enqueue(piece);
          return (control.desiredSize ?? 0) > 0;
        },
        end: () => control.close(),
      });
    },
    pull: () => body.drained(),
    cancel: () => body.cancel(),
  }, { highWaterMark: HIGH_WATER });
}
