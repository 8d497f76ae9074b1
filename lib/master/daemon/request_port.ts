/**
 * The port that takes requests: libzmq's proxy between clients and MWorkers, with limits on connections and memory.
 * @module
 */

import { connectionLimits } from "#lib/config/connection_limits.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { minionsAt } from "#lib/fleet/connected_ids.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { ConnectionLimiter } from "#lib/sockets/connection_limiter.ts";
import { Unanswered } from "#lib/sockets/connection_memory.ts";
import type { SharedPlace } from "#lib/sockets/endpoint.ts";
import { ZmqProxy } from "#lib/sockets/proxy.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";
import { MANY_REQUESTERS, PROBES } from "#lib/sockets/settings.ts";
import { listening } from "./starting.ts";

/** Time for the network to send the last replies, in milliseconds. */
const LINGER_MS = 250;

/**
 * The address between proxy and MWorkers: in memory, without libzmq's threads in between, and without system calls
 * while both sides are busy.
 */
const WORKERS = "inproc://workers";

/**
 * Maximum number of replies that are queued for a client that does not read them; further ones are dropped. A client
 * normally waits for a reply before it sends the next request. A piece of a file is 1 MiB, so a client that requests
 * thousands and reads none must not fill the memory.
 */
const MAX_REPLIES = 128;

/** The port of one master. */
export class RequestPort {
  readonly #proxy: ZmqProxy;
  readonly #limiter: ConnectionLimiter;
  /** Its number. */
  #port = 0;

  /** Makes its sockets; `start` opens it. */
  constructor(opts: MasterOpts, log: Logger) {
    this.#proxy = ZmqProxy.requests(
      {
        backlog: opts.zmq_backlog,
        maxFrameBytes: opts.max_request_bytes,
        handshakeMs: opts.handshake_timeout * 1000,
        receiveHighWaterMark: opts.max_queued_requests,
        sendHighWaterMark: MAX_REPLIES,
        lingerMs: LINGER_MS,
        ...PROBES,
        ...MANY_REQUESTERS,
        ipv6: opts.ipv6 ?? undefined,
      },
      // Few requests are queued for the MWorkers; the others wait in their own connections, so that ROUTER serves its
      // peers in turn and no flood delays other clients. Replies are not limited, here and in the MWorkers: while
      // libzmq's proxy waits for room in one direction, it does not serve the other.
      { highWaterMark: 0, sendHighWaterMark: opts.max_queued_requests },
    );
    this.#limiter = new ConnectionLimiter([this.#proxy.monitor()], {
      name: "ret_port",
      limits: connectionLimits(opts),
      memory: {
        rule: new Unanswered(MAX_REPLIES * opts.file_buffer_size),
        max: opts.max_request_memory,
        name: "max_request_memory",
      },
      messages: {
        max: `max_request_bytes (${opts.max_request_bytes})`,
        at: (address) => minionsAt(new DataCache(opts.cachedir, { log: log.error }), address),
      },
      log,
    });
  }

  /**
   * Opens it.
   * @throws {PreflightError} If the address is in use.
   */
  async start({ interface: address, ret_port }: Pick<MasterOpts, "interface" | "ret_port">): Promise<void> {
    const addresses = { front: tcpAddress(address, ret_port), back: WORKERS };
    const bound = await listening(`ret_port ${ret_port}`, this.#proxy.start(addresses));
    this.#port = Number(bound.front.split(":").at(-1));
  }

  /** The number of the port, once it is open. */
  get port(): number {
    return this.#port;
  }

  /** Where MWorkers take requests. */
  get workers(): SharedPlace {
    return { context: this.#proxy.context, address: WORKERS };
  }

  /** Closes connections if the process has more memory than it may. */
  lookAtMemory(rss: number): void {
    this.#limiter.lookAtMemory(rss);
  }

  /** Closes it. `abandoned`: an MWorker has not closed its sockets. */
  async close(options: { readonly abandoned: boolean }): Promise<void> {
    this.#limiter.close();
    await this.#proxy.close(options);
  }
}
