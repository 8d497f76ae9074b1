/**
 * Chooses the connection to close when there are too many: a rule over counts, without sockets.
 *
 * By default no address has its own limit, since ten thousand honest minions may come from one (NAT). While there
 * is room, every connection is accepted. When there is none, a connection from an address with fewer connections than
 * the largest address replaces the newest connection of that address. So an address can only use the room that others
 * leave.
 * @module
 */

/** Maximum numbers of connections; 0: no limit. */
export interface ConnectionLimits {
  /** In total. */
  readonly total: number;
  /** From one address. */
  readonly perAddress: number;
}

/** A connection to close. */
export interface ClosingConnection {
  /** Its descriptor. */
  readonly connection: number;
  /** The peer's address, as passed to `add`. */
  readonly address: string;
}

/** The connections of one listening socket, each with a number (its descriptor). */
export class ConnectionShares {
  readonly #limits: ConnectionLimits;
  readonly #addresses = new Map<number, string>();
  /** The connections of each address, oldest first. */
  readonly #connections = new Map<string, Set<number>>();
  /** The addresses by their number of connections. */
  readonly #bySize = new Map<number, Set<string>>();
  #max = 0;

  /** @param limits The maximum numbers. */
  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Number of connections. */
  get size(): number {
    return this.#addresses.size;
  }

  /** Every connection. */
  get all(): Iterable<number> {
    return this.#addresses.keys();
  }

  /** The peer address of a connection. */
  addressOf(connection: number): string | undefined {
    return this.#addresses.get(connection);
  }

  /**
   * Adds a connection.
   * @returns The connection to close for it, maybe itself; it is removed from the counts.
   */
  add(connection: number, address: string): ClosingConnection | undefined {
    this.remove(connection);
    const own = this.#connections.get(address) ?? new Set();
    this.#connections.set(address, own);
    own.add(connection);
    this.#addresses.set(connection, address);
    this.#moved(address, own.size - 1, own.size);
    const leaves = this.#tooMany(connection, address);
    if (leaves === undefined) return undefined;
    const closing = { connection: leaves, address: this.#addresses.get(leaves) ?? address };
    this.remove(leaves);
    return closing;
  }

  #tooMany(connection: number, address: string): number | undefined {
    const { total, perAddress } = this.#limits;
    const own = this.#connections.get(address)?.size ?? 0;
    if (perAddress > 0 && own > perAddress) return connection;
    if (total <= 0 || this.size <= total) return undefined;
    if (own === this.#max) return connection;
    const [greediest] = this.#bySize.get(this.#max) ?? [];
    return [...this.#connections.get(greediest) ?? []].at(-1);
  }

  /** Removes a connection. May be called twice. */
  remove(connection: number): void {
    const address = this.#addresses.get(connection);
    if (address === undefined) return;
    this.#addresses.delete(connection);
    const own = this.#connections.get(address);
    own?.delete(connection);
    const left = own?.size ?? 0;
    if (left === 0) this.#connections.delete(address);
    this.#moved(address, left + 1, left);
  }

  #moved(address: string, from: number, to: number): void {
    const old = this.#bySize.get(from);
    old?.delete(address);
    if (old?.size === 0) this.#bySize.delete(from);
    if (to > 0) {
      const others = this.#bySize.get(to) ?? new Set();
      this.#bySize.set(to, others.add(address));
    }
    this.#max = to > from ? Math.max(this.#max, to) : this.#bySize.has(this.#max) ? this.#max : this.#max - 1;
  }
}
