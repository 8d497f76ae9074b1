/**
 * Requests to a master's port 4506: one at a time, each with its reply or an error, over a REQ socket.
 *
 * A REQ socket that got no reply is stuck: it is thrown away and a new one made, which also asks DNS again. Moves bytes
 * only; knows nothing of envelopes or keys.
 * @module
 */

import { RequestTimeoutError } from "./errors.ts";
import { Duplex, type SocketSettings } from "./sockets.ts";

/** How long a request may take, and how often it is tried. */
export interface RequestPatience {
  /** Milliseconds for each try. */
  readonly timeoutMs: number;
  /** How often; each on a fresh socket. */
  readonly tries: number;
}

/** A way to ask one master. */
export class RequestChannel {
  readonly #address: string;
  readonly #settings: SocketSettings;
  #socket: Duplex | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** Opens nothing before the first request. @param address `tcp://host:port`. */
  constructor(address: string, settings: SocketSettings = {}) {
    this.#address = address;
    this.#settings = { reconnectMs: 100, reconnectMaxMs: 5_000, ...settings };
  }

  /**
   * Sends `frame` when those before it have been answered, and gives the reply.
   * @throws {RequestTimeoutError} When all tries are over, or the channel is closed.
   */
  request(frame: Uint8Array, patience: RequestPatience): Promise<Uint8Array> {
    const answer = this.#queue.then(() => this.#ask(frame, patience));
    this.#queue = answer.catch(() => {}); // the next in line does not care how this one ended
    return answer;
  }

  async #ask(frame: Uint8Array, { timeoutMs, tries }: RequestPatience): Promise<Uint8Array> {
    for (let attempt = 0; attempt < tries && !this.#closed; attempt++) {
      this.#socket ??= this.#open();
      const socket = this.#socket;
      const deadline = performance.now() + timeoutMs;
      if (await socket.send([frame], timeoutMs)) {
        const reply = await socket.receive(Math.max(0, deadline - performance.now()));
        if (reply !== undefined) return reply[0];
      }
      socket.close();
      this.#socket = undefined;
    }
    throw new RequestTimeoutError(this.#address, timeoutMs * tries);
  }

  #open(): Duplex {
    const socket = Duplex.request(this.#settings);
    socket.connect(this.#address);
    return socket;
  }

  /** Ends it; requests under way fail. Twice is fine. */
  close(): void {
    this.#closed = true;
    this.#socket?.close();
    this.#socket = undefined;
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** `tcp://host:port`, with brackets around an IPv6 address. */
export function tcpAddress(host: string, port: number): string {
  return `tcp://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
}
