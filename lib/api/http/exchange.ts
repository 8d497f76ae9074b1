/**
 * What a server of HTTP hands over and takes: requests, and the answers to them. Both servers that the API listens with
 * speak in these terms (`plain_server.ts`, `tls_server.ts`).
 * @module
 */

/** A request. That of `Deno.serve` is one. */
export interface IncomingRequest {
  readonly method: string;
  /** With the path as it was sent: not decoded, nothing of it resolved. */
  readonly url: string;
  readonly headers: Headers;
  /** `null`: it has none. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Aborted when the client goes before the answer is sent. */
  readonly signal: AbortSignal;
}

/** What is known of the connection that a request came by, and what may become of it. */
export interface RequestConnection {
  readonly remoteAddr: Deno.NetAddr;
  /** Resolves, or rejects, when the answer is sent or the client has gone. */
  readonly completed: Promise<void>;
  /**
   * Makes it a WebSocket. The answer must be what is returned.
   * @throws {TypeError} If the request is no handshake.
   */
  upgrade(): UpgradedConnection;
}

/** A connection that has become a WebSocket. */
export interface UpgradedConnection {
  readonly socket: WebSocket;
  readonly answer: HttpAnswer;
}

/** Where the pieces of a {@linkcode PushedBody} go. */
export interface BodySink {
  /**
   * Sends a piece.
   * @returns Whether there is room for more; if not, {@linkcode PushedBody.drained} tells when there is.
   */
  write(piece: Uint8Array<ArrayBuffer>): boolean;
  /** No more pieces come. */
  end(): void;
}

/**
 * A body whose pieces are sent as they come. A `ReadableStream` in its place costs 40 KB for each open answer, most of
 * which is a buffer of Deno's (measured, Deno 2.9.6).
 */
export interface PushedBody {
  /** Begins to send. Called once. */
  begin(sink: BodySink): void;
  /** The sink has room again. */
  drained(): void;
  /** Nobody takes more: the client has gone, or wanted no body. Also called after the end. */
  cancel(): void;
}

/** A body that is sent; `null`: none. */
export type SentBody =
  | string
  | Uint8Array<ArrayBuffer>
  | ReadableStream<Uint8Array<ArrayBuffer>>
  | { readonly pushed: PushedBody }
  | null;

/** What a request is answered with. */
export type AnswerBody =
  | SentBody
  /** The request has become a WebSocket, by this answer of the runtime. */
  | { readonly upgraded: Response };

/** What is sent for a request, before either server has made it its own. */
export class HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnswerBody;

  /** @param options.status Default: 200. */
  constructor(body: AnswerBody, { status = 200, headers = {} }: {
    readonly status?: number;
    readonly headers?: HeadersInit;
  } = {}) {
    this.status = status;
    this.headers = new Headers(headers);
    this.body = body;
  }
}

/** What an answer is made by. */
export type HttpHandler = (request: IncomingRequest, connection: RequestConnection) => Promise<HttpAnswer>;

/** What a server is made of. */
export interface HttpServerParts {
  readonly hostname: string;
  readonly port: number;
  /** Must not throw. */
  readonly handle: HttpHandler;
  /** The answer to an error of the runtime. */
  failed(error: unknown): HttpAnswer;
}

/** A server that listens. */
export interface HttpServer {
  readonly addr: Deno.NetAddr;
  /** Rejects if it cannot go on; resolves after {@linkcode shutdown}. */
  readonly finished: Promise<void>;
  /** Accepts no more connections, and resolves when all answers are sent. */
  shutdown(): Promise<void>;
}

/** Whether the request has become a WebSocket. */
export function isUpgraded(body: AnswerBody): body is { readonly upgraded: Response } {
  return body !== null && typeof body === "object" && "upgraded" in body;
}

/** Whether the pieces of a body are pushed. */
export function isPushed(body: SentBody): body is { readonly pushed: PushedBody } {
  return body !== null && typeof body === "object" && "pushed" in body;
}

/** Ends a body that is not sent. */
export async function dropBody(body: SentBody): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel();
  else if (isPushed(body)) body.pushed.cancel();
}
