/**
 * A TCP proxy on loopback that delays every byte, in each direction.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import { TcpProxy, writeAllTo } from "#tests/support/servers/tcp_proxy.ts";

export class SlowProxy extends TcpProxy {
  readonly #delayMs: number;
  #target = 0;

  private constructor(delayMs: number) {
    super();
    this.#delayMs = delayMs;
  }

  /** Starts the proxy on a port that the system chooses. */
  static listen(delayMs: number): SlowProxy {
    return new SlowProxy(delayMs);
  }

  /** The address that it forwards connections to. */
  leadTo(port: number): void {
    this.#target = port;
  }

  protected override target(): Promise<number> {
    return Promise.resolve(this.#target);
  }

  /** Forwards the data from `from`, each piece with the same delay. */
  protected override async pass(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    let last: Promise<void> = Promise.resolve();
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      const piece = buffer.slice(0, count);
      const before = last;
      last = sleep(this.#delayMs).then(() => before).then(() => writeAllTo(to, piece));
      last.catch(() => {}); // the next write fails too, and its error is awaited
    }
    await last;
  }
}
