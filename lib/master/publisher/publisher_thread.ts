/**
 * The thread of the Publisher.
 * @module
 */

import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import { Publisher, type PublisherParts } from "./publisher.ts";
import { serveThread, surviveErrors } from "#lib/runtime/thread.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";

/** The data that the thread starts with. */
export interface PublisherInit extends PublisherParts, SupervisedInit {
  /** The master's options, packed. */
  readonly opts: Uint8Array;
}

serveThread<PublisherInit>(async (init, host) => {
  surviveErrors(host.log);
  noteSockets(init.sockets);
  return await Publisher.start(unpackOpts("master", init.opts), init, host);
});
