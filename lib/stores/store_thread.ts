/**
 * The thread that has the database of a master's jobs. Other threads reach it through a port each.
 * @module
 */

import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { messageOf } from "#lib/errors.ts";
import { serveThread, surviveErrors, type ThreadHost, type ThreadService } from "#lib/runtime/thread.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";
import { openRows } from "./open_rows.ts";
import { isNewStorePort, serveRows } from "./remote_rows.ts";
import type { JobRows } from "./rows.ts";

/** The data that it starts with. */
export interface StoreInit extends SupervisedInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
}

class StoreService implements ThreadService {
  readonly #rows: JobRows;
  readonly #host: ThreadHost;
  #ports = 0;

  constructor(init: StoreInit, host: ThreadHost) {
    this.#host = host;
    this.#rows = openRows(unpackOpts("master", init.opts));
  }

  describe(): string {
    return `${this.#ports} threads have been connected`;
  }

  /** A thread that stores jobs, or its successor, has a new port. */
  onMessage(message: unknown): void {
    if (!isNewStorePort(message)) return;
    this.#ports++;
    serveRows(this.#rows, message.storePort);
  }

  async close(): Promise<void> {
    await this.#rows.close().catch((error) => this.#host.log.error(`The job store: ${messageOf(error)}`));
  }
}

serveThread<StoreInit>((init, host) => {
  surviveErrors(host.log);
  noteSockets(init.sockets);
  return Promise.resolve(new StoreService(init, host));
});
