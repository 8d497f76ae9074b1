/**
 * A TCP proxy on loopback, whose subclasses say how bytes pass.
 * @module
 */

/** Listens on a port that the system chooses. */
export abstract class TcpProxy implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections = new Set<Deno.Conn>();
  readonly #accepting: Promise<void> = this.#accept();

  /** Where it listens. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** The port of 127.0.0.1 that the next connection is for, when it may be opened. */
  protected abstract target(): Promise<number>;

  /** Forwards what comes from one side, until that ends. */
  protected abstract pass(from: Deno.Conn, to: Deno.Conn): Promise<void>;

  async #accept(): Promise<void> {
    for await (const near of this.#listener) void this.#serve(near);
  }

  /** Never rejects. When one side has ended, the other is closed too. */
  async #serve(near: Deno.Conn): Promise<void> {
    let far: Deno.Conn | undefined;
    this.#connections.add(near);
    try {
      far = await Deno.connect({ hostname: "127.0.0.1", port: await this.target() });
      this.#connections.add(far);
      await Promise.race([this.pass(near, far), this.pass(far, near)]);
    } catch {
      // One side is closed, so the other is closed too.
    } finally {
      for (const end of [near, far]) if (end !== undefined && this.#connections.delete(end)) end.close();
    }
  }

  /** Closes it and all its connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const end of this.#connections) end.close();
    this.#connections.clear();
    await this.#accepting;
  }
}

/** Writes all of it. */
export async function writeAllTo(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await to.write(bytes.subarray(written));
}
