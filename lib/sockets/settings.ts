/**
 * What a socket is set to, in libzmq's own options: queues, patience, and how a dead peer is found out.
 * Source: zmq_setsockopt(3), tcp(7).
 * @module
 */

import { hasOption, type SocketKind, type SocketOption, type ZmqSocket } from "./libzmq.ts";

/** See `connectTimeoutMs`. */
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * For a connection over a network, on the side that has few: a peer that answers nothing is found out within twice this
 * time. Answering PINGs is libzmq's own business, in Salt's peers too.
 */
export const HEARTBEAT = { heartbeatIntervalMs: 10_000, heartbeatTimeoutMs: 10_000 } as const;

/** TCP keep-alive; numbers are whole, and -1 is the system's own. */
export interface KeepAlive {
  /** Whether idle connections are probed at all. */
  readonly on: boolean;
  /** Seconds of silence before the first probe. */
  readonly idleS: number;
  /** Unanswered probes after which the connection is lost. */
  readonly count: number;
  /** Seconds between two probes. */
  readonly intervalS: number;
}

/**
 * The same on the side that has thousands, by the system's own means: for each PONG libzmq looks through the timers of all
 * connections. Of 2,500 minions at rest that took 7% of a processor, of twice as many four times that. Probes after 10
 * seconds of silence, and every 4 from then on. Whoever answers nothing for 12 seconds is gone, be it to a probe, which is
 * found out 14 seconds after the silence began, or to what was sent meanwhile, which puts the probes off: then 12 after that.
 */
export const PROBES = {
  keepalive: { on: true, idleS: 10, count: 2, intervalS: 4 },
  unansweredMs: 12_000,
} as const;

/**
 * For a side that has thousands of connections: what their messages seldom exceed, and no more. Of what is read at a time
 * libzmq takes the double.
 */
export const MANY_REQUESTERS = { inBatchBytes: 512, outBatchBytes: 512 } as const;
/** The same of subscribers, who say little. */
export const MANY_SUBSCRIBERS = { inBatchBytes: 256, outBatchBytes: 1_024 } as const;

/** What a socket is set to; every field is libzmq's option of that name. Times in milliseconds. */
export interface SocketSettings {
  /** Messages kept for a peer that does not read; 0 keeps all. libzmq drops or blocks beyond it. Default 1000. */
  readonly highWaterMark?: number;
  /** The same of what is sent alone. */
  readonly sendHighWaterMark?: number;
  /** The same of what is received alone. */
  readonly receiveHighWaterMark?: number;
  /** How long `close` tries to deliver what was sent. Default 0. */
  readonly lingerMs?: number;
  /**
   * How long one try to connect may take. Without a bound it is the system's, which waits ever longer for an answer to its
   * first packet: whoever was unreachable for minutes would be noticed a minute late. Default 5000.
   */
  readonly connectTimeoutMs?: number;
  /** ZMTP PING this often, and a peer that is silent for `heartbeatTimeoutMs` is dropped. Default: off. */
  readonly heartbeatIntervalMs?: number;
  /** How long a peer may be silent. */
  readonly heartbeatTimeoutMs?: number;
  /** A peer that has not said who it is in this time is disconnected. Default: libzmq's, 30 s. */
  readonly handshakeMs?: number;
  /** A peer that sends a larger frame is disconnected, in bytes. Default: any size. */
  readonly maxFrameBytes?: number;
  /** Wait before a new try to connect, and its upper bound when it doubles. Default 100, no doubling. */
  readonly reconnectMs?: number;
  /** The longest wait between two tries. */
  readonly reconnectMaxMs?: number;
  /**
   * What libzmq reads of small messages at a time, in bytes, where it lets itself be told: its 8 KB take 18 KB of each
   * connection. Default: libzmq's.
   */
  readonly inBatchBytes?: number;
  /** What it sends of them at a time, of which it takes as much. Default: libzmq's 8 KB. */
  readonly outBatchBytes?: number;
  /** Pending connections of a listening socket. Default 100. */
  readonly backlog?: number;
  /** The identity that a ROUTER sees. */
  readonly identity?: string;
  /** How idle connections are probed. Default: as the system does. */
  readonly keepalive?: KeepAlive;
  /** How long TCP may get no answer to what was sent, probes included. Default: the system's, a quarter of an hour. */
  readonly unansweredMs?: number;
  /** Whether to listen on IPv6 addresses too. */
  readonly ipv6?: boolean;
}

/** Sets a new socket of `kind`. @throws {SocketError} If libzmq refuses a value. */
export function configure(socket: ZmqSocket, kind: SocketKind, settings: SocketSettings): void {
  const options: Partial<Record<SocketOption, number | string>> = {
    sendHighWaterMark: settings.sendHighWaterMark ?? settings.highWaterMark,
    receiveHighWaterMark: settings.receiveHighWaterMark ?? settings.highWaterMark,
    linger: settings.lingerMs ?? 0,
    connectTimeout: settings.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    heartbeatInterval: settings.heartbeatIntervalMs,
    heartbeatTimeout: settings.heartbeatTimeoutMs,
    maxMessageSize: settings.maxFrameBytes,
    handshakeInterval: settings.handshakeMs,
    reconnectInterval: settings.reconnectMs,
    reconnectMaxInterval: settings.reconnectMaxMs,
    backlog: settings.backlog,
    inBatchSize: settings.inBatchBytes,
    outBatchSize: settings.outBatchBytes,
    routingId: settings.identity,
    ipv6: settings.ipv6 === undefined ? undefined : Number(settings.ipv6),
    tcpKeepalive: settings.keepalive === undefined ? undefined : Number(settings.keepalive.on),
    tcpKeepaliveIdle: settings.keepalive?.idleS,
    tcpKeepaliveCount: settings.keepalive?.count,
    tcpKeepaliveInterval: settings.keepalive?.intervalS,
    tcpMaxRetransmit: settings.unansweredMs,
    // A peer that comes back under the same identity takes the old one's place.
    routerHandover: kind === "router" ? 1 : undefined,
  };
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && hasOption(option as SocketOption)) socket.set(option as SocketOption, value);
  }
}
