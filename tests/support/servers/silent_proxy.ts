/**
 * A TCP proxy that can be cut like a cable: while it is, nothing passes and nothing is closed, and new connections get
 * no answer.
 * @module
 */

import { TcpProxy, writeAllTo } from "#tests/support/servers/tcp_proxy.ts";

/** The proxy, to one port of 127.0.0.1. */
export class SilentProxy extends TcpProxy {
  readonly #target: number;
  #cut: PromiseWithResolvers<void> | undefined;

  constructor(target: number) {
    super();
    this.#target = target;
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

  protected override async target(): Promise<number> {
    await this.#cut?.promise;
    return this.#target;
  }

  protected override async pass(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      await this.#cut?.promise;
      await writeAllTo(to, buffer.subarray(0, count));
    }
  }

  /** Closes all connections. */
  override async [Symbol.asyncDispose](): Promise<void> {
    this.mend();
    await super[Symbol.asyncDispose]();
  }
}
