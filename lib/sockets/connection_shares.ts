/**
 * Which connection has to go when there are too many: a rule with counts, no sockets.
 *
 * No address has a bound of its own by default, for ten thousand honest minions may come from one (NAT). While there is room
 * everybody gets it. When there is none, whoever comes from an address that has fewer connections than the one that has
 * most gets the place of the newest of those: an address can take what others leave, and no more.
 * @module
 */

/** How many connections there may be; 0: no bound. */
export interface ConnectionLimits {
  /** In all. */
  readonly total: number;
  /** From one address. */
  readonly perAddress: number;
}

/** The connections of one listening socket, by whatever number stands for each. */
export class ConnectionShares {
  readonly #limits: ConnectionLimits;
  readonly #addresses = new Map<number, string>();
  /** The connections of each address, the oldest first. */
  readonly #connections = new Map<string, Set<number>>();
  /** The addresses by how many connections they have. */
  readonly #bySize = new Map<number, Set<string>>();
  #most = 0;

  /** Has none yet. */
  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** How many there are. */
  get size(): number {
    return this.#addresses.size;
  }

  /** Every connection. */
  get all(): Iterable<number> {
    return this.#addresses.keys();
  }

  /** The address that a connection is from. */
  addressOf(connection: number): string | undefined {
    return this.#addresses.get(connection);
  }

  /** Counts a new connection. @returns The one that has to go for it, maybe itself; it is not counted any more. */
  add(connection: number, address: string): number | undefined {
    this.remove(connection);
    const own = this.#connections.get(address) ?? new Set();
    this.#connections.set(address, own);
    own.add(connection);
    this.#addresses.set(connection, address);
    this.#moved(address, own.size - 1, own.size);
    const leaves = this.#tooMany(connection, address);
    if (leaves !== undefined) this.remove(leaves);
    return leaves;
  }

  #tooMany(connection: number, address: string): number | undefined {
    const { total, perAddress } = this.#limits;
    const own = this.#connections.get(address)?.size ?? 0;
    if (perAddress > 0 && own > perAddress) return connection;
    if (total <= 0 || this.size <= total) return undefined;
    if (own === this.#most) return connection;
    const [greediest] = this.#bySize.get(this.#most) ?? [];
    return [...this.#connections.get(greediest) ?? []].at(-1);
  }

  /** A connection is gone; twice is fine. */
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
    this.#most = to > from ? Math.max(this.#most, to) : this.#bySize.has(this.#most) ? this.#most : this.#most - 1;
  }
}
