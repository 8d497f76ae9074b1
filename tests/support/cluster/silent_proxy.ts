/**
 * A TCP proxy on loopback that can be cut like a cable: while it is, nothing passes and nothing is closed, and new
 * connections get no answer.
 * @module
 */

/** The proxy, to one port of 127.0.0.1. */
export class SilentProxy implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #target: number;
  readonly #connections = new Set<Deno.Conn>();
  readonly #accepting: Promise<void>;
  #cut: PromiseWithResolvers<void> | undefined;

  constructor(target: number) {
    this.#target = target;
    this.#accepting = this.#accept();
  }

  /** Where it listens. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** Nothing passes from now on. */
  cut(): void {
    this.#cut ??= Promise.withResolvers<void>();
  }

  /** What waited passes, and what comes. */
  mend(): void {
    this.#cut?.resolve();
    this.#cut = undefined;
  }

  async #accept(): Promise<void> {
    for await (const near of this.#listener) void this.#serve(near);
  }

  async #serve(near: Deno.Conn): Promise<void> {
    let far: Deno.Conn | undefined;
    this.#connections.add(near);
    try {
      await this.#cut?.promise;
      far = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
      this.#connections.add(far);
      await Promise.race([this.#pass(near, far), this.#pass(far, near)]);
    } catch {
      // One side is closed, so the other is closed too.
    } finally {
      for (const end of [near, far]) if (end !== undefined && this.#connections.delete(end)) end.close();
    }
  }

  async #pass(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      await this.#cut?.promise;
      for (let sent = 0; sent < count;) sent += await to.write(buffer.subarray(sent, count));
    }
  }

  /** Closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.mend();
    this.#listener.close();
    for (const connection of this.#connections) connection.close();
    this.#connections.clear();
    await this.#accepting;
  }
}
