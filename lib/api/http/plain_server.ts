/**
 * HTTP without TLS, by `node:http`. An open answer costs 15 KB here and 60 KB in `Deno.serve`, whose advantage, HTTP/2,
 * browsers use over TLS alone.
 *
 * What `node:http` bounds by itself is switched off: `connection_guard.ts` ends connections that only take room, for
 * both servers alike.
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import {
  dropBody,
  HttpAnswer,
  type HttpServer,
  type HttpServerParts,
  isUpgraded,
  type RequestConnection,
} from "./exchange.ts";
import { PlainRequest } from "./plain_request.ts";
import { sendAnswer } from "./plain_answer.ts";

/** Bytes of headers that are read: fewer than this are refused with an answer that says why. */
const MAX_HEADER_BYTES = 64 << 10;

/**
 * Loads all that a server needs, as later there may be no descriptor left to load anything with.
 * @returns What starts to serve, and resolves when it listens, or rejects with what listening throws.
 */
export async function loadPlainServer(): Promise<(parts: HttpServerParts) => Promise<HttpServer>> {
  const http = await import("node:http");
  return async (parts) => {
    const server = new PlainServer(parts, http);
    await server.listen();
    return server;
  };
}

type NodeHttp = Pick<typeof import("node:http"), "createServer" | "ServerResponse">;

class PlainServer implements HttpServer {
  readonly #parts: HttpServerParts;
  readonly #server: Server;
  readonly #ended = Promise.withResolvers<void>();
  #addr: Deno.NetAddr;
  /** Requests that are being answered. */
  #open = 0;
  #isClosing = false;

  constructor(parts: HttpServerParts, { createServer, ServerResponse }: NodeHttp) {
    this.#parts = parts;
    this.#addr = { transport: "tcp", hostname: parts.hostname, port: parts.port };
    this.#server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: 0,
      headersTimeout: 0,
      keepAliveTimeout: 0,
      // Without one there is no name that another site could use.
      requireHostHeader: false,
      noDelay: true,
      shouldUpgradeCallback: isHandshake,
    });
    this.#server.on("request", (message, response) => {
      // After an upgrade that was not taken, Node's parser reads no other request of the connection.
      if (message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
      void this.#answer(message, response);
    });
    // Node gives the connection up: the answer, if it is another one, is written as if it had not.
    this.#server.on("upgrade", (message, _, head) => {
      const { socket } = message, response = new ServerResponse(message);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once("finish", () => socket.destroySoon());
      socket.on("error", ignoreGone);
      void this.#answer(message, response, head);
    });
    this.#server.on(
      "connect",
      (_, socket) => socket.end("HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n"),
    );
    this.#ended.promise.catch(() => {});
  }

  get addr(): Deno.NetAddr {
    return this.#addr;
  }

  get finished(): Promise<void> {
    return this.#ended.promise;
  }

  async listen(): Promise<void> {
    const { hostname, port } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject);
    this.#server.listen({ host: hostname, port }, resolve);
    await promise;
    this.#server.off("error", reject);
    const address = this.#server.address();
    if (address !== null && typeof address === "object") {
      this.#addr = { transport: "tcp", hostname: address.address, port: address.port };
    }
    // A connection could not be accepted, most likely for want of descriptors: Node tries again, and the guard makes
    // room.
    this.#server.on("error", ignoreGone);
  }

  async shutdown(): Promise<void> {
    this.#isClosing = true;
    this.#server.close();
    this.#endIfIdle();
    await this.#ended.promise.catch(() => {});
  }

  /** Ends the connections that wait for a request, when no other is left. */
  #endIfIdle(): void {
    if (!this.#isClosing || this.#open > 0) return;
    this.#server.closeAllConnections();
    this.#ended.resolve();
  }

  async #answer(message: IncomingMessage, response: ServerResponse, head?: Uint8Array<ArrayBuffer>): Promise<void> {
    const { socket } = message;
    const { remoteAddress, remotePort } = socket;
    // The client has gone already.
    if (remoteAddress === undefined || remotePort === undefined) return;
    message.on("error", ignoreGone);
    response.on("error", ignoreGone);
    const request = new PlainRequest(message);
    const { promise: completed, resolve } = Promise.withResolvers<void>();
    this.#open++;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      socket.off("close", end);
      if (!response.writableFinished) request.gone();
      this.#open--;
      resolve();
      this.#endIfIdle();
    };
    // An answer that waits for that of an earlier request has no end of its own when the client goes.
    socket.once("close", end);
    response.once("close", end);
    const connection: RequestConnection = {
      remoteAddr: { transport: "tcp", hostname: remoteAddress, port: remotePort },
      completed,
      upgrade: () => {
        if (head === undefined) throw new TypeError("this is no handshake");
        const { socket: upgraded, response } = Deno.upgradeWebSocket(request.toRequest(), { socket, head });
        return { socket: upgraded, answer: new HttpAnswer({ upgraded: response }, { status: 101 }) };
      },
    };
    let answer: HttpAnswer;
    try {
      answer = await this.#parts.handle(request, connection);
    } catch (error) {
      answer = this.#parts.failed(error);
    }
    const { status, headers, body } = answer;
    if (isUpgraded(body)) {
      response.detachSocket(socket);
      return end();
    }
    if (isOver) return await dropBody(body);
    try {
      await sendAnswer({ status, headers, body }, response, { isHead: message.method === "HEAD", completed });
    } catch (error) {
      this.#parts.failed(error);
      socket.destroy();
    }
  }
}

/** Whether a request asks for a WebSocket. Other upgrades, as to HTTP/2, are not taken: the request is answered. */
function isHandshake({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

/** The connection was cut off: the answer's close says it. */
function ignoreGone(): void {}
