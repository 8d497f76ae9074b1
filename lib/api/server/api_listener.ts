/**
 * The listening socket of the API. It outlasts a flood of connections, which ends Deno's server, and takes a changed
 * certificate: the new server begins when the old one has closed its socket, and the old one's answers and streams go
 * on to their end.
 * @module
 */

import { type ConnectionBounds, ConnectionGuard } from "#lib/api/http/connection_guard.ts";
import type { HttpAnswer, HttpHandler, HttpServer, HttpServerParts } from "#lib/api/http/exchange.ts";
import { messageOf } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { readTlsFiles, type TlsPaths, tlsStamp, tryTlsPair } from "./tls_files.ts";

/** Time between two looks whether the certificate has changed, in milliseconds. */
const CERTIFICATE_MS = 5_000;
/** How often, and with what wait in milliseconds, the port is tried when a server begins anew. */
const TRIES = 200, TRY_MS = 50;

/** What a listener is made of. */
export interface ListenerParts {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsPaths | undefined;
  readonly bounds: ConnectionBounds;
  /** Whether an address may have as many connections as it likes. */
  unbound(address: string): boolean;
  readonly log: Logger;
  readonly handle: HttpHandler;
  /** The answer to an error of the runtime. */
  failed(error: unknown): HttpAnswer;
}

type StartServer = (parts: HttpServerParts) => Promise<HttpServer>;

/**
 * Loads the server of the kind that is used, once: when a flood has taken all descriptors, nothing can be loaded.
 */
async function loadServer(tls: TlsPaths | undefined): Promise<StartServer> {
  if (tls === undefined) return await (await import("#lib/api/http/plain_server.ts")).loadPlainServer();
  const { startTlsServer } = await import("#lib/api/http/tls_server.ts");
  return (parts) => Promise.try(() => startTlsServer(parts, readTlsFiles(tls)));
}

/** A port that is served. */
export class ApiListener {
  readonly #parts: ListenerParts;
  readonly #start: StartServer;
  readonly #guard: ConnectionGuard;
  readonly #ended = Promise.withResolvers<void>();
  #server: HttpServer | undefined;
  /** Servers of former certificates, which still answer. */
  readonly #former = new Set<HttpServer>();
  #stamp: string;
  #timer: Timer | undefined;
  #isClosing = false;

  private constructor(parts: ListenerParts, start: StartServer) {
    this.#parts = parts;
    this.#start = start;
    const { bounds, log, tls } = parts;
    this.#stamp = tls === undefined ? "" : tlsStamp(tls);
    this.#guard = new ConnectionGuard({
      port: () => this.port,
      bounds,
      unbound: (address) => parts.unbound(address),
      log,
    });
    this.#ended.promise.catch(() => {});
  }

  /**
   * Starts to serve.
   * @throws {PreflightError} If a file of the certificate cannot be read.
   * @throws What listening throws.
   */
  static async start(parts: ListenerParts): Promise<ApiListener> {
    const listener = new ApiListener(parts, await loadServer(parts.tls));
    const { addr } = await listener.#serve(parts.port);
    listener.#guard.start();
    const { log, tls } = parts;
    log.info(`Serving the API on ${addr.hostname}:${addr.port}`);
    if (tls !== undefined) listener.#timer = setInterval(() => void listener.#renew(tls), CERTIFICATE_MS);
    return listener;
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#server?.addr.port ?? this.#parts.port;
  }

  /** Rejects with the error that ended it, which does not close the rest; resolves after {@linkcode close}. */
  get closed(): Promise<void> {
    return this.#ended.promise;
  }

  /** A connection has become a WebSocket. */
  upgraded(address: Deno.NetAddr): void {
    this.#guard.upgrade(address);
  }

  /** Accepts no more connections; resolves when the answers that are under way have ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await Promise.all([this.#server, ...this.#former].map((server) => server?.shutdown()));
    this.#guard.close();
    this.#ended.resolve();
  }

  async #serve(port: number): Promise<HttpServer> {
    const { host, failed } = this.#parts;
    const handle: HttpHandler = (request, connection) => {
      this.#guard.begin(connection.remoteAddr, connection.completed);
      return this.#parts.handle(request, connection);
    };
    const parts = { hostname: host, port, handle, failed };
    const server = await this.#start(parts);
    this.#server = server;
    server.finished.catch((error) => void this.#fell(server, error));
    return server;
  }

  /** The server could not accept a connection, most likely for want of descriptors. */
  async #fell(server: HttpServer, error: unknown): Promise<void> {
    if (this.#isClosing || server !== this.#server) return;
    this.#parts.log.error(`A connection could not be accepted: ${messageOf(error)}. Listening again`);
    try {
      await this.#again(() => this.#guard.look());
    } catch (last) {
      this.#ended.reject(last);
    }
  }

  /** A server on the same port, as soon as the one before has given it up. */
  async #again(before: () => void): Promise<void> {
    const { port } = this;
    for (let tries = 1;; tries++) {
      if (this.#isClosing) return;
      try {
        before();
        await this.#serve(port);
        return;
      } catch (error) {
        if (tries === TRIES) throw error;
        await sleep(tries === 1 ? 1 : TRY_MS);
      }
    }
  }

  /** Takes a certificate that has changed. One that cannot be used is told, and the one before stays. */
  async #renew(tls: TlsPaths): Promise<void> {
    const stamp = tlsStamp(tls);
    if (stamp === this.#stamp || this.#isClosing) return;
    this.#stamp = stamp;
    const { log } = this.#parts;
    try {
      tryTlsPair(readTlsFiles(tls));
    } catch (error) {
      log.error(`The changed certificate cannot be used, the one before stays: ${messageOf(error)}`);
      return;
    }
    if (this.#server !== undefined) this.#retire(this.#server);
    try {
      await this.#again(() => {});
      log.info("The changed certificate is served");
    } catch (error) {
      this.#ended.reject(error);
    }
  }

  /** Lets a server end its answers and streams, and accept no more connections. */
  #retire(former: HttpServer): void {
    this.#former.add(former);
    const ended = former.shutdown().finally(() => this.#former.delete(former));
    ended.catch((error) => this.#parts.log.warning(`The server of the former certificate: ${messageOf(error)}`));
  }
}
