/**
 * Limits the connections of a port: closes those that exceed the maximum number or hold too much memory.
 * libzmq limits neither, but reports each new and closed connection with its descriptor; shutting the descriptor down
 * ends the connection as if the peer had closed it. connection_shares.ts and connection_memory.ts choose the connection
 * to close. The caller decides when memory is checked.
 * Source: zmq_socket_monitor(3), tcp(7).
 * @module
 */

import { type ByteCounts, largestConnections, type MemoryRule, total } from "./connection_memory.ts";
import { type ConnectionLimits, ConnectionShares } from "./connection_shares.ts";
import { CutConnections } from "./cut_connections.ts";
import { waitForDescriptor } from "./epoll.ts";
import { peerAddress, shutDownConnection, tcpByteCounts } from "#lib/libc/libc.ts";
import { CONNECTION_EVENTS, type ZmqSocket } from "./libzmq.ts";
import { addressText } from "#lib/text/ip_address.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { SocketWait } from "./wait.ts";
import { withLease } from "#lib/runtime/thread_lease.ts";
import { sleep } from "#lib/os/sleep.ts";

/** Minimum time between two warnings of one kind, in milliseconds. */
const WARNING_MS = 10_000;
/** Growth of the process's memory below which no connection is checked, in bytes. */
const LOOK_FROM = 1 << 25;
/** After a look, connections are not looked at for so many times as long as it took, unless the process grows. */
const PAUSE_TIMES = 20;
/** After so many events in a row, other work of this thread gets a turn. */
const IN_A_ROW = 256;

/** A limit on the memory of all connections. */
export interface MemoryBound {
  /** Computes how much each connection holds. */
  readonly rule: MemoryRule;
  /** Maximum bytes of all connections together; 0: no limit. */
  readonly max: number;
  /** The option that sets it, for the log. */
  readonly name: string;
}

/** Options of a {@linkcode ConnectionLimiter}. */
export interface ConnectionLimiterOptions {
  /** The name of the port's option, for the log. */
  readonly name: string;
  /** Maximum numbers of connections. */
  readonly limits: ConnectionLimits;
  /** Maximum memory of the connections. */
  readonly memory: MemoryBound;
  /**
   * For the log: the option for the largest message, and the minions at an address. Default: too large messages are not
   * logged.
   */
  readonly messages?: { readonly max: string; at(address: string): string[] };
  readonly log: Logger;
}

/** Limits the connections of one port. */
export class ConnectionLimiter {
  readonly #options: ConnectionLimiterOptions;
  readonly #waits: readonly SocketWait[];
  readonly #shares: ConnectionShares;
  /** When each connection was accepted (`performance.now()`). */
  readonly #since = new Map<number, number>();
  readonly #cut = new CutConnections();
  readonly #warnedAt = new Map<string, number>();
  /** Memory of the process when connections last held little of it. */
  #restBytes = Infinity;
  /** The last look: memory of the process then, and until when the next one waits (`performance.now()`). */
  #looked = { bytes: 0, untilMs: 0 };
  #closed = false;

  /**
   * Starts to watch.
   * @param monitors Report the connections of the sockets at one port; the caller closes them after {@linkcode close}.
   */
  constructor(monitors: readonly ZmqSocket[], options: ConnectionLimiterOptions) {
    this.#options = options;
    this.#shares = new ConnectionShares(options.limits);
    this.#waits = monitors.map((monitor) => new SocketWait(waitForDescriptor(monitor.descriptor)));
    monitors.forEach((monitor, index) =>
      this.#listen(monitor, this.#waits[index]).catch((error) => {
        options.log.error(`Connections to ${options.name} are not limited any more: ${error.message}`);
      })
    );
  }

  /** Number of connections. */
  get size(): number {
    return this.#shares.size;
  }

  async #listen(socket: ZmqSocket, wait: SocketWait): Promise<void> {
    for (let inARow = 0; await wait.until(() => socket.readable, Infinity);) {
      for (let frames = socket.tryReceive(); frames !== undefined; frames = socket.tryReceive()) {
        const view = new DataView(frames[0].buffer, frames[0].byteOffset);
        this.#receive(view.getUint16(0, true), view.getInt32(2, true));
        if (++inARow < IN_A_ROW) continue;
        inARow = 0;
        await sleep(0);
        if (this.#closed) return;
      }
    }
  }

  #receive(event: number, value: number): void {
    const { name, limits } = this.#options;
    if (event === CONNECTION_EVENTS.disconnected) {
      this.#since.delete(value);
      const address = this.#shares.addressOf(value);
      this.#cut.ended(value, () => this.#warnCut(address ?? ""));
      return this.#shares.remove(value);
    }
    if (event === CONNECTION_EVENTS.acceptFailed) {
      return this.#warn("accept", `A connection to ${name} could not be accepted: error ${value} of the system`);
    }
    if (event !== CONNECTION_EVENTS.accepted) return;
    const address = peerAddress(value);
    if (address === undefined) return; // closed already
    this.#since.set(value, performance.now());
    if (this.#options.messages !== undefined) this.#cut.add(value);
    const leaves = this.#shares.add(value, address);
    if (leaves === undefined) return;
    const max = limits.perAddress > 0 ? `${limits.total}, ${limits.perAddress} from one address` : limits.total;
    const who = "new ones end, or those of the address that has most";
    this.#warn(
      "connections",
      `Too many connections to ${name} (${max}): ${who}; now one of ${addressText(address)}`,
    );
    this.#cut.forget(leaves.connection);
    withLease(() => shutDownConnection(leaves.connection, leaves.address));
  }

  #warnCut(address: string): void {
    const { name, messages } = this.#options;
    this.#warn("cut", () => {
      const text = addressText(address);
      const ids = messages?.at(text) ?? [];
      const who = ids.length === 0 ? "" : ` (there ${ids.length === 1 ? "is" : "are"} ${ids.join(", ")})`;
      return `A connection of ${text}${who} to ${name} was closed in the middle of a message: larger than ${messages?.max}, or invalid`;
    });
  }

  /**
   * Checks the memory that connections hold, and closes the largest if it is too much. Call it as often as the process
   * may grow much (lib/runtime/cpu_time_watch.ts). Cheap unless the process has grown: reading the counts of thousands
   * of connections takes tenths of a second, of which it takes a twentieth of the time at most unless the process grows
   * further.
   * @param rss Memory of the process now, in bytes.
   */
  lookAtMemory(rss: number): void {
    const { rule, max, name } = this.#options.memory;
    this.#restBytes = Math.min(this.#restBytes, rss);
    if (max === 0 || this.#shares.size === 0 || rss - this.#restBytes < Math.min(LOOK_FROM, max)) return;
    const nowMs = performance.now();
    if (nowMs < this.#looked.untilMs && rss - this.#looked.bytes < LOOK_FROM) return;
    const held = rule.weigh(this.#counts());
    const sum = total(held), endMs = performance.now();
    this.#looked = { bytes: rss, untilMs: endMs + PAUSE_TIMES * (endMs - nowMs) };
    if (sum < max / 4 && !rule.inDoubt) this.#restBytes = rss; // other memory grows
    if (sum <= max) return;
    for (const connection of largestConnections(held, max / 2)) {
      const bytes = `${held.get(connection)} of them by ${addressText(this.#shares.addressOf(connection) ?? "")}`;
      this.#warn(
        "memory",
        `Connections to ${this.#options.name} hold ${sum} bytes (${name}): the largest end; now ${bytes}`,
      );
      this.#end(connection);
    }
  }

  #counts(): Map<number, ByteCounts> {
    const counts = new Map<number, ByteCounts>();
    const now = performance.now();
    for (const connection of this.#shares.all) {
      const counted = tcpByteCounts(connection);
      if (counted !== undefined) {
        counts.set(connection, { ...counted, ageMs: now - (this.#since.get(connection) ?? now) });
      }
    }
    return counts;
  }

  #end(connection: number): void {
    const address = this.#shares.addressOf(connection);
    this.#shares.remove(connection);
    this.#cut.forget(connection);
    if (address !== undefined) withLease(() => shutDownConnection(connection, address));
  }

  #warn(kind: string, text: string | (() => string)): void {
    const now = performance.now();
    if (now - (this.#warnedAt.get(kind) ?? -Infinity) < WARNING_MS) return;
    this.#warnedAt.set(kind, now);
    this.#options.log.warning(typeof text === "string" ? text : text());
  }

  /** Stops watching. May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const wait of this.#waits) wait.close();
    this.#cut.close();
  }
}
