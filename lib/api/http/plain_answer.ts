/**
 * Writes an answer of the API to `node:http`.
 * @module
 */

import type { ServerResponse } from "node:http";
import { dropBody, type HttpAnswer, isPushed, type PushedBody, type SentBody } from "./exchange.ts";

const encoder = new TextEncoder();

/** One that is not a WebSocket. */
type SentAnswer = Pick<HttpAnswer, "status" | "headers"> & { readonly body: SentBody };

/**
 * Sends an answer; resolves when its last piece is written, or at once if pieces are pushed.
 * @param options.isHead Whether only its head is asked for.
 * @param options.completed Resolves when it is sent, or the client has gone.
 */
export async function sendAnswer(
  { status, headers, body }: SentAnswer,
  response: ServerResponse,
  { isHead, completed }: { readonly isHead: boolean; readonly completed: Promise<void> },
): Promise<void> {
  // Names and values in turn: `Set-Cookie` may be there more than once.
  const head = [...headers].flat();
  if (body instanceof ReadableStream || isPushed(body)) {
    if (isHead) {
      response.writeHead(status, head).end();
      return await dropBody(body);
    }
    if (body instanceof ReadableStream) {
      response.writeHead(status, head);
      return await sendStream(body, response, completed);
    }
    // The end of the connection is the end of the body: pieces need no frames, each of which would be garbage.
    response.useChunkedEncodingByDefault = false;
    response.shouldKeepAlive = false;
    response.writeHead(status, head).flushHeaders();
    return push(body.pushed, response, completed);
  }
  const bytes = typeof body === "string" ? encoder.encode(body) : body ?? new Uint8Array();
  if (status !== 204 && status !== 304) head.push("content-length", String(bytes.length));
  response.writeHead(status, head).end(isHead || bytes.length === 0 ? undefined : bytes);
}

/** Sends what a stream has, no faster than the client takes it. */
async function sendStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  response: ServerResponse,
  completed: Promise<void>,
): Promise<void> {
  const reader = body.getReader();
  let isOver = false, wake = () => {};
  response.on("drain", () => wake());
  void completed.then(async () => {
    isOver = true;
    wake();
    // After its end this does nothing; after an error, that is thrown below.
    await reader.cancel().catch(() => {});
  });
  while (true) {
    const { done, value } = await reader.read();
    if (isOver) return;
    if (done) break;
    if (response.write(value)) continue;
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    await promise;
  }
  response.end();
}

function push(body: PushedBody, response: ServerResponse, completed: Promise<void>): void {
  response.on("drain", () => body.drained());
  void completed.then(() => body.cancel());
  body.begin({
    write: (piece) => response.write(piece),
    end: () => void response.end(),
  });
}
