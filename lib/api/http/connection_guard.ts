/**
 * Ends connections that only take room: those whose headers do not come, that rest, whose client reads no answer, and
 * those beyond the most. The servers bound none of it: they wait for headers for ever, and Deno's ends when
 * the process has no descriptor left.
 * @module
 */

import { plainAddress } from "./client_origin.ts";
import { raiseOpenFileLimit, tcpByteCounts } from "#lib/libc/libc.ts";
import { endConnection, openDescriptors, type TcpEnds, tcpEnds } from "#lib/libc/tcp_ends.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { addressText } from "#lib/text/ip_address.ts";

/** Opens a descriptor, for nothing but to have it. */
function openSpare(): Deno.FsFile {
  return Deno.openSync("/dev/null");
}

/** How long connections may do nothing, and how many there may be. */
export interface ConnectionBounds {
  /** Time until the headers of the first request are there, TLS included, in milliseconds. */
  readonly headersMs: number;
  /** Time between the end of an answer and the headers of the next request, in milliseconds. */
  readonly idleMs: number;
  /** Time in which a client takes nothing of what waits for it, in milliseconds. */
  readonly stuckMs: number;
  readonly most: number;
  /** The most of one address; this host's own and trusted proxies have no such bound. */
  readonly mostOfAddress: number;
}

/** The bounds of the API. */
export const CONNECTION_BOUNDS: ConnectionBounds = {
  headersMs: 10_000,
  idleMs: 30_000,
  stuckMs: 45_000,
  most: 10_000,
  mostOfAddress: 500,
};

/** Time between two looks, in milliseconds. */
const LOOK_MS = 1_000;
/** Shortest time between two looks at what a client takes: each asks the system. */
const COUNT_MS = 5_000;
/** Descriptors that other work of the process needs. */
const SPARE_DESCRIPTORS = 256;
/** Minimum time between two warnings, in milliseconds. */
const WARNING_MS = 10_000;

/** What is known of one connection. Times are those of `performance.now()`. */
interface Known {
  readonly sinceMs: number;
  /** Requests that are being answered. */
  open: number;
  /** When the last answer ended; `undefined`: none has. */
  endedMs: number | undefined;
  /** Whether it has become a WebSocket, which has no requests. */
  isUpgraded: boolean;
  /** The bytes that the client has taken, since when it is as many, and when they were counted. */
  taken: number;
  takenMs: number;
  countedMs: number;
}

interface Open {
  readonly key: string;
  readonly fd: number;
  readonly ends: TcpEnds;
  readonly known: Known;
}

/** Watches the connections of one port. */
export class ConnectionGuard {
  readonly #port: () => number;
  readonly #bounds: ConnectionBounds;
  readonly #unbound: (address: string) => boolean;
  readonly #log: Pick<Logger, "warning">;
  readonly #known = new Map<string, Known>();
  #timer: Timer | undefined;
  /** Held for the next look: when a flood has taken all others, it is given up for the list of descriptors. */
  #spare: Deno.FsFile | undefined;
  #warnedMs = -Infinity;

  /** @param options.unbound Whether an address may have as many as it likes. */
  constructor({ port, bounds, unbound, log }: {
    port(): number;
    readonly bounds: ConnectionBounds;
    unbound(address: string): boolean;
    readonly log: Pick<Logger, "warning">;
  }) {
    this.#port = port;
    this.#unbound = unbound;
    this.#log = log;
    const { soft } = raiseOpenFileLimit(bounds.most + SPARE_DESCRIPTORS);
    const most = Math.min(bounds.most, Math.max(SPARE_DESCRIPTORS, soft - SPARE_DESCRIPTORS));
    this.#bounds = { ...bounds, most };
  }

  /** Begins to look. */
  start(): void {
    this.#spare = openSpare();
    this.#timer = setInterval(() => this.look(), LOOK_MS);
  }

  /** Ends it. */
  close(): void {
    clearInterval(this.#timer);
    this.#spare?.close();
    this.#spare = undefined;
  }

  /**
   * A request has come.
   * @param completed Resolves, or rejects, when its answer is sent.
   */
  begin({ hostname, port }: Deno.NetAddr, completed: Promise<void>): void {
    const known = this.#of(`${plainAddress(hostname)} ${port}`, performance.now());
    known.open++;
    const end = () => {
      known.open--;
      known.endedMs = performance.now();
    };
    completed.then(end, end);
  }

  /** The connection has become a WebSocket. */
  upgrade({ hostname, port }: Deno.NetAddr): void {
    this.#of(`${plainAddress(hostname)} ${port}`, performance.now()).isUpgraded = true;
  }

  /** Looks at all connections, and ends those that have no right to last. */
  look(nowMs: number = performance.now()): void {
    const open = this.#connections(nowMs);
    const late = open.filter((one) => this.#isLate(one, nowMs));
    const lasting = late.length === 0 ? open : open.filter((one) => !late.includes(one));
    const tooMany = this.#tooMany(lasting);
    for (const { fd, ends, key } of [...late, ...tooMany]) {
      endConnection(fd, ends);
      this.#known.delete(key);
    }
    const [first] = tooMany;
    if (first === undefined || nowMs - this.#warnedMs < WARNING_MS) return;
    this.#warnedMs = nowMs;
    this.#log.warning(
      `Too many connections (${this.#bounds.most}, ${this.#bounds.mostOfAddress} from one address): ` +
        `${tooMany.length} end, one of ${addressText(first.ends.peer)}`,
    );
  }

  /** All descriptors, also when a flood leaves none to read them with. */
  #descriptors(): number[] {
    const spare = this.#spare;
    spare?.close();
    const all = openDescriptors();
    if (spare !== undefined) this.#spare = openSpare();
    return all;
  }

  #connections(nowMs: number): Open[] {
    const port = this.#port();
    const open: Open[] = [];
    const keys = new Set<string>(), addresses = new Map<string, string>();
    for (const fd of this.#descriptors()) {
      const ends = tcpEnds(fd, port);
      if (ends === undefined) continue;
      const address = addresses.get(ends.peer) ?? addressText(ends.peer);
      addresses.set(ends.peer, address);
      const key = `${address} ${ends.peerPort}`;
      keys.add(key);
      open.push({ key, fd, ends, known: this.#of(key, nowMs) });
    }
    for (const key of this.#known.keys()) if (!keys.has(key)) this.#known.delete(key);
    return open;
  }

  #of(key: string, nowMs: number): Known {
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const known: Known = {
      sinceMs: nowMs,
      open: 0,
      endedMs: undefined,
      isUpgraded: false,
      taken: 0,
      takenMs: nowMs,
      countedMs: -Infinity,
    };
    this.#known.set(key, known);
    return known;
  }

  #isLate({ fd, known }: Open, nowMs: number): boolean {
    const { headersMs, idleMs, stuckMs } = this.#bounds;
    const { open, endedMs, isUpgraded, sinceMs } = known;
    if (open === 0 && !isUpgraded) {
      return endedMs === undefined ? nowMs - sinceMs > headersMs : nowMs - endedMs > idleMs;
    }
    if (nowMs - known.countedMs < Math.min(COUNT_MS, stuckMs / 4)) return false;
    known.countedMs = nowMs;
    const counts = tcpByteCounts(fd);
    if (counts === undefined || counts.unsent === 0 || counts.taken !== known.taken) {
      known.taken = counts?.taken ?? 0;
      known.takenMs = nowMs;
    }
    return nowMs - known.takenMs > stuckMs;
  }

  /** Of those beyond the bounds: first of the addresses with most, first those without a request, the newest first. */
  #tooMany(open: readonly Open[]): Open[] {
    const { most, mostOfAddress } = this.#bounds;
    if (open.length <= Math.min(most, mostOfAddress)) return [];
    const byAddress = Map.groupBy(open, ({ ends }) => ends.peer);
    const ending: Open[] = [];
    for (const [peer, own] of byAddress) {
      own.sort((a, b) => Number(a.known.open > 0) - Number(b.known.open > 0) || b.known.sinceMs - a.known.sinceMs);
      if (!this.#unbound(addressText(peer))) ending.push(...own.splice(0, Math.max(0, own.length - mostOfAddress)));
    }
    const beyond = open.length - ending.length - most;
    if (beyond <= 0) return ending;
    // Taken one by one from the address that has most, each would go in this order.
    const ranked = [...byAddress.values()].flatMap((own) => own.map((one, i) => ({ one, rank: own.length - i })));
    return [...ending, ...ranked.sort((a, b) => b.rank - a.rank).slice(0, beyond).map(({ one }) => one)];
  }
}
