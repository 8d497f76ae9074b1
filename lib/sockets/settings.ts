/**
 * Socket settings, as libzmq's options: queue lengths, timeouts, and the detection of dead peers.
 * Source: zmq_setsockopt(3), tcp(7).
 * @module
 */

import { hasOption, type SocketKind, type SocketOption, type ZmqSocket } from "./libzmq.ts";

/** See `connectTimeoutMs`. */
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * For network connections on the side that has few: a dead peer is detected within twice this time. libzmq answers
 * PINGs itself, in Salt's peers too.
 */
export const HEARTBEAT = { heartbeatIntervalMs: 10_000, heartbeatTimeoutMs: 10_000 } as const;

/** TCP keep-alive; -1 means the system's default. */
export interface KeepAlive {
  /** Whether idle connections are probed. */
  readonly on: boolean;
  /** Seconds of silence before the first probe. */
  readonly idleS: number;
  /** Unanswered probes after which the connection is lost. */
  readonly count: number;
  /** Seconds between two probes. */
  readonly intervalS: number;
}

/**
 * The same for the side with thousands of connections, by TCP: for each PONG libzmq searches the timers of all
 * connections, which took 7% of a processor with 2,500 idle minions, and four times that with twice as many. Probes
 * start after 10 seconds of silence and are sent every 4 seconds. A peer that does not answer for 12 seconds is
 * disconnected: 14 seconds after the silence began if probes were sent, or 12 seconds after data was sent, which delays
 * probes.
 */
export const PROBES = {
  keepalive: { on: true, idleS: 10, count: 2, intervalS: 4 },
  unansweredMs: 12_000,
} as const;

/**
 * For a side with thousands of connections: about the size of their usual messages. libzmq takes twice the size that is
 * read at once.
 */
export const MANY_REQUESTERS = { inBatchBytes: 512, outBatchBytes: 512 } as const;
/** The same for subscribers, which send little. */
export const MANY_SUBSCRIBERS = { inBatchBytes: 256, outBatchBytes: 1_024 } as const;

/** Settings of a socket; each field is libzmq's option of that name. Times in milliseconds. */
export interface SocketSettings {
  /**
   * Maximum messages queued for a peer that does not read; 0: no limit. Beyond it libzmq drops or blocks.
   * Default: 1000.
   */
  readonly highWaterMark?: number;
  /** The same, only for sent messages. */
  readonly sendHighWaterMark?: number;
  /** The same, only for received messages. */
  readonly receiveHighWaterMark?: number;
  /** How long `close` tries to deliver sent messages. Default: 0. */
  readonly lingerMs?: number;
  /**
   * Maximum time of one try to connect. Default: 5000. The system's own limit grows with each try, so a peer that was
   * unreachable for minutes would be found a minute late.
   */
  readonly connectTimeoutMs?: number;
  /** Interval of ZMTP PINGs; a peer that is silent for `heartbeatTimeoutMs` is disconnected. Default: off. */
  readonly heartbeatIntervalMs?: number;
  /** Maximum silence of a peer. */
  readonly heartbeatTimeoutMs?: number;
  /** A peer that has not completed the handshake in this time is disconnected. Default: libzmq's 30 s. */
  readonly handshakeMs?: number;
  /** A peer that sends a larger frame is disconnected, in bytes. Default: no limit. */
  readonly maxFrameBytes?: number;
  /** Wait before a new try to connect; doubles up to `reconnectMaxMs`. Default: 100, without doubling. */
  readonly reconnectMs?: number;
  readonly reconnectMaxMs?: number;
  /**
   * Bytes that libzmq reads at once of small messages, if it supports the option: its 8 KB take 18 KB per connection.
   * Default: libzmq's.
   */
  readonly inBatchBytes?: number;
  /** Bytes that libzmq sends at once of small messages, and allocates for them. Default: libzmq's 8 KB. */
  readonly outBatchBytes?: number;
  /** Queue of pending connections of a listening socket. Default: 100. */
  readonly backlog?: number;
  /** The identity that a ROUTER sees. */
  readonly identity?: string;
  /** TCP keep-alive of idle connections. Default: the system's. */
  readonly keepalive?: KeepAlive;
  /**
   * Maximum time without a TCP acknowledgement of sent data and probes. Default: the system's, a quarter of an hour.
   */
  readonly unansweredMs?: number;
  /** Whether to listen on IPv6 addresses too. */
  readonly ipv6?: boolean;
}

/**
 * Applies settings to a new socket of `kind`.
 * @throws {SocketError} If libzmq refuses a value.
 */
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
    // A peer that reconnects with the same identity replaces its old connection.
    routerHandover: kind === "router" ? 1 : undefined,
  };
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && hasOption(option as SocketOption)) socket.set(option as SocketOption, value);
  }
}
