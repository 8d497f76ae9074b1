/**
 * Sockets of the kinds that others have at the far end of ours, and that no part of the product opens by itself.
 * @module
 */

import { Duplex } from "../../../lib/sockets/endpoint.ts";
import type { SocketSettings } from "../../../lib/sockets/settings.ts";

/** A peer of a socket of ours. */
export class Peer extends Duplex {
  /** DEALER: any number of messages either way; the empty delimiter of REQ and REP is the caller's to add and take off. */
  static dealer(settings: SocketSettings = {}): Duplex {
    return new Peer("dealer", settings);
  }

  /** ROUTER: the first frame names the peer. */
  static router(settings: SocketSettings = {}): Duplex {
    return new Peer("router", settings);
  }
}
