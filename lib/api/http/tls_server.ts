/**
 * HTTP over TLS, by `Deno.serve`: browsers have HTTP/2 with it.
 * @module
 */

import {
  dropBody,
  HttpAnswer,
  type HttpServer,
  type HttpServerParts,
  isPushed,
  isUpgraded,
  type PushedBody,
} from "./exchange.ts";

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
    const { status, headers, body } = answer;
    if (request.method !== "HEAD" || isUpgraded(body)) return responseOf(answer);
    await dropBody(body);
    return new Response(null, { status, headers });
  });
}

function responseOf({ status, headers, body }: HttpAnswer): Response {
  if (isUpgraded(body)) return body.upgraded;
  return new Response(isPushed(body) ? streamOf(body.pushed) : body, { status, headers });
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
