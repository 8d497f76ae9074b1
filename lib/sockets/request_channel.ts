/**
 * Requests to a master's port 4506: one at a time, each with its reply or an error, over a REQ socket.
 *
 * A REQ socket that got no reply is stuck: it is thrown away and a new one made, which also asks DNS again. A request
 * whose connection is lost is sent again, so it may arrive twice. Moves bytes only; knows nothing of envelopes or
 * keys.
 * @module
 */

import { RequestTimeoutError } from "../errors.ts";
import { bracketHost } from "../text/host_port.ts";
import { sleep } from "../os/sleep.ts";
import type { SocketSettings } from "./settings.ts";
import { Duplex } from "./endpoint.ts";

/** Before a request whose connection was lost is sent again, in milliseconds; doubles each time. */
const LOST_WAIT_MS = 50;

/** How long a request may take, and how often it is tried. */
export interface RequestPatience {
  /** Milliseconds for each try. */
  readonly timeoutMs: number;
  /** How often; each on a fresh socket. */
  readonly tries: number;
}

/** Patience, and what ends it early. */
export interface RequestOptions extends RequestPatience {
  /** Ends the request at once when it is aborted. */
  readonly signal?: AbortSignal;
}

/** A way to ask one master. */
export class RequestChannel {
  readonly #address: string;
  readonly #settings: SocketSettings;
  #socket: Duplex | undefined;
  /** Resolves when the last of those in line has its answer; nobody is in line without it. */
  #queue: Promise<void> | undefined;
  /** Ends the request under way. */
  #end: (() => void) | undefined;
  #closed = false;

  /** Opens nothing before the first request. @param address `tcp://host:port`. */
  constructor(address: string, settings: SocketSettings = {}) {
    this.#address = address;
    const ipv6 = settings.ipv6 ?? address.startsWith("tcp://[");
    this.#settings = { reconnectMs: 100, reconnectMaxMs: 5_000, ...settings, ipv6 };
  }

  /**
   * Sends `frame` when those before it have been answered, at once if there are none, and gives the reply.
   * @throws {RequestTimeoutError} When all tries are over, or the channel is closed.
   * @throws {unknown} The signal's reason, when it is aborted.
   */
  request(frame: Uint8Array, options: RequestOptions): Promise<Uint8Array> {
    const answer = this.#queue?.then(() => this.#ask(frame, options)) ?? this.#ask(frame, options);
    // The next in line does not care how this one ended.
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
        // A lost connection took the request or its reply with it: ask again, within the same try.
        while (outcome === "lost" && performance.now() + waitMs < deadline && !stop.aborted) {
          await sleep(waitMs, stop).catch(() => {}); // the loop sees that it is to stop
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
    throw new RequestTimeoutError(this.#address, timeoutMs * tries);
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

  /** Makes a new connection at once, for whoever knows that the old one is lost; a request under way is sent again. */
  reset(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #open(): Duplex {
    const socket = Duplex.request(this.#settings);
    socket.connect(this.#address);
    return socket;
  }

  /** Ends it; requests under way fail. Twice is fine. */
  close(): void {
    this.#closed = true;
    this.#end?.();
    this.reset();
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** `tcp://host:port`, with brackets around an IPv6 address. */
export function tcpAddress(host: string, port: number): string {
  return `tcp://${bracketHost(host)}:${port}`;
}
