/**
 * A TCP proxy on loopback that delays every byte, in each direction.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";

export class SlowProxy implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #delayMs: number;
  readonly #connections = new Set<Deno.Conn>();
  #target = 0;
  readonly #accepting: Promise<void>;

  private constructor(delayMs: number) {
    this.#delayMs = delayMs;
    this.#accepting = this.#accept();
  }

  /** Starts the proxy on a port that the system chooses. */
  static listen(delayMs: number): SlowProxy {
    return new SlowProxy(delayMs);
  }

  /** The address that it listens on. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** The address that it forwards connections to. */
  leadTo(port: number): void {
    this.#target = port;
  }

  async #accept(): Promise<void> {
    for await (const near of this.#listener) void this.#serve(near);
  }

  async #serve(near: Deno.Conn): Promise<void> {
    let far: Deno.Conn | undefined;
    this.#connections.add(near);
    try {
      far = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
      this.#connections.add(far);
      await Promise.all([this.#pass(near, far), this.#pass(far, near)]);
    } catch {
      // One side is closed, so the other is closed too.
    } finally {
      for (const end of [near, far]) if (end !== undefined && this.#connections.delete(end)) end.close();
    }
  }

  /** Forwards the data from `from`, each piece with the same delay. */
  async #pass(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    let last: Promise<void> = Promise.resolve();
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      const piece = buffer.slice(0, count);
      const before = last;
      last = sleep(this.#delayMs).then(() => before).then(() => writeAll(to, piece));
      last.catch(() => {}); // the next write fails too, and its error is awaited
    }
    await last;
    throw new Error("the end of a connection");
  }

  /** Closes the proxy and all its connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const end of this.#connections) end.close();
    this.#connections.clear();
    await this.#accepting;
  }
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await to.write(bytes.subarray(written));
}
