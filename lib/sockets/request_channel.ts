/**
 * Requests to a master's port 4506 over a REQ socket: one at a time, each ends with its reply or an error. A REQ socket
 * that got no reply cannot send again, so it is replaced by a new one, which also resolves the name again. A request
 * whose connection is lost is sent again, so it may arrive twice. Moves bytes only; knows nothing of envelopes or keys.
 * @module
 */

import { RequestTimeoutError } from "#lib/errors.ts";
import { bracketHost } from "#lib/text/host_port.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { SocketSettings } from "./settings.ts";
import { Duplex } from "./endpoint.ts";

/** First wait before a request is sent again after a lost connection, in milliseconds; doubles each time. */
const LOST_WAIT_MS = 50;

/** Time limit and number of tries of a request. */
export interface RequestTimeouts {
  /** Milliseconds per try. */
  readonly timeoutMs: number;
  /** Number of tries, each with a new socket. */
  readonly tries: number;
}

/** Limits of a request, and a signal that ends it early. */
export interface RequestOptions extends RequestTimeouts {
  /** Ends the request at once when aborted. */
  readonly signal?: AbortSignal;
}

/** Sends requests to one master. */
export class RequestChannel {
  readonly #address: () => string;
  readonly #settings: SocketSettings;
  #socket: Duplex | undefined;
  /** Resolves when the last queued request has ended; `undefined` if none is queued. */
  #queue: Promise<void> | undefined;
  /** Ends the running request. */
  #end: (() => void) | undefined;
  #closed = false;

  /**
   * Connects at the first request.
   * @param address `tcp://host:port`, or a function that is asked for it at each new connection.
   */
  constructor(address: string | (() => string), settings: SocketSettings = {}) {
    this.#address = typeof address === "string" ? () => address : address;
    this.#settings = { reconnectMs: 100, reconnectMaxMs: 5_000, ...settings };
  }

  /**
   * Sends `frame` after the earlier requests have ended, and returns the reply.
   * @throws {RequestTimeoutError} After all tries, or when the channel is closed.
   * @throws {unknown} The signal's reason, when it is aborted.
   */
  request(frame: Uint8Array, options: RequestOptions): Promise<Uint8Array> {
    const answer = this.#queue?.then(() => this.#ask(frame, options)) ?? this.#ask(frame, options);
    // The next request does not depend on how this one ended.
    const over = answer.then(() => {}, () => {}).then(() => {
      if (this.#queue === over) this.#queue = undefined;
    });
    this.#queue = over;
    return answer;
  }

  async #ask(frame: Uint8Array, { timeoutMs, tries, signal }: RequestOptions): Promise<Uint8Array> {
    const ended = new AbortController();
    const end = () => {
      ended.abort();
      this.reset();
    };
    if (this.#closed || signal?.aborted) end();
    signal?.addEventListener("abort", end);
    this.#end = end;
    const stop = ended.signal;
    try {
      for (let attempt = 0; attempt < tries && !stop.aborted; attempt++) {
        const deadline = performance.now() + timeoutMs;
        let waitMs = LOST_WAIT_MS;
        let outcome = await this.#askOnce(frame, deadline);
        // The request or its reply was lost with the connection: send it again within the same try.
        while (outcome === "lost" && performance.now() + waitMs < deadline && !stop.aborted) {
          await sleep(waitMs, stop).catch(() => {}); // the loop checks the signal itself
          waitMs *= 2;
          if (!stop.aborted) outcome = await this.#askOnce(frame, deadline);
        }
        if (typeof outcome !== "string") return outcome;
      }
    } finally {
      signal?.removeEventListener("abort", end);
      this.#end = undefined;
    }
    signal?.throwIfAborted();
    throw new RequestTimeoutError(this.#address(), timeoutMs * tries);
  }

  async #askOnce(frame: Uint8Array, deadline: number): Promise<Uint8Array | "lost" | "silent"> {
    this.#socket ??= this.#open();
    const socket = this.#socket;
    const leftMs = () => Math.max(0, deadline - performance.now());
    if (await socket.send([frame], leftMs())) {
      const reply = await socket.receive(leftMs());
      if (reply !== undefined) return reply[0];
    }
    const lost = socket.closed;
    socket.close();
    if (this.#socket === socket) this.#socket = undefined;
    return lost ? "lost" : "silent";
  }

  /**
   * Makes a new connection at once, when the caller knows that the old one is lost; a running request is sent again.
   */
  reset(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #open(): Duplex {
    const address = this.#address();
    const socket = Duplex.request({
      ...this.#settings,
      ipv6: this.#settings.ipv6 ?? address.startsWith("tcp://["),
    });
    socket.connect(address);
    return socket;
  }

  /** Closes the channel; running requests fail. May be called twice. */
  close(): void {
    this.#closed = true;
    this.#end?.();
    this.reset();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** `tcp://host:port`, with brackets around an IPv6 address. */
export function tcpAddress(host: string, port: number): string {
  return `tcp://${bracketHost(host)}:${port}`;
}
