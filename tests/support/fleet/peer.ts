/**
 * Peer sockets of types that the product itself does not open.
 * @module
 */

import { Duplex } from "#lib/sockets/endpoint.ts";
import type { SocketSettings } from "#lib/sockets/settings.ts";

/** The peer of one of our sockets. */
export class Peer extends Duplex {
  /**
   * DEALER: any number of messages in both directions. The caller adds and removes the empty delimiter of REQ and REP.
   */
  static dealer(settings: SocketSettings = {}): Duplex {
    return new Peer("dealer", settings);
  }

  /** ROUTER: the first frame is the peer's routing id. */
  static router(settings: SocketSettings = {}): Duplex {
    return new Peer("router", settings);
  }
}
