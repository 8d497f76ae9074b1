/**
 * The thread that has the database of a master's jobs. Other threads reach it through a port each.
 * @module
 */

import { stamp } from "#lib/bus/event.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { messageOf } from "#lib/errors.ts";
import { serveThread, surviveErrors, type ThreadHost, type ThreadService } from "#lib/runtime/thread.ts";
import { STORE_AWAY, STORE_BACK } from "#lib/protocol/tags.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import type { SharedPlace } from "#lib/sockets/endpoint.ts";
import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";
import { openMasterRows } from "./open_rows.ts";
import { isNewStorePort, serveRows } from "./remote_rows.ts";
import type { JobRows } from "./rows.ts";
import { map } from "#lib/values/value.ts";
import { jobStoreKind } from "./store_options.ts";

/** The data that it starts with. */
export interface StoreInit extends SupervisedInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  /** The address for its events. */
  readonly events: SharedPlace;
  /** Memory in which other threads see the number of records in the outbox. */
  readonly outboxCounter?: SharedArrayBuffer;
}

class StoreService implements ThreadService {
  readonly #rows: JobRows;
  readonly #host: ThreadHost;
  readonly #bus: EventSender;
  #ports = 0;

  constructor(host: ThreadHost, { rows, bus }: { readonly rows: JobRows; readonly bus: EventSender }) {
    this.#host = host;
    this.#rows = rows;
    this.#bus = bus;
  }

  describe(): string {
    return `${this.#ports} threads have been connected`;
  }

  /** A thread that stores jobs, or its successor, has a new port. */
  onMessage(message: unknown): void {
    if (isNewStorePort(message)) {
      this.#ports++;
      serveRows(this.#rows, message.storePort);
    }
  }

  async close(): Promise<void> {
    await this.#rows.close().catch((error) => this.#host.log.error(`The job store: ${messageOf(error)}`));
    this.#bus.close();
  }
}

serveThread<StoreInit>(async (init, host) => {
  surviveErrors(host.log);
  noteSockets(init.sockets);
  const opts = unpackOpts("master", init.opts);
  const bus = new EventSender(init.events);
  const onChange = (change: "away" | "back", outbox: number) => {
    const data = stamp(map({ store: jobStoreKind(opts), outbox }));
    void bus.fireOrLog(change === "away" ? STORE_AWAY : STORE_BACK, data, host.log);
  };
  const { outboxCounter } = init;
  try {
    const rows = await openMasterRows(opts, { log: host.log, onChange, ...outboxCounter && { outboxCounter } });
    return new StoreService(host, { rows, bus });
  } catch (error) {
    bus.close();
    throw error;
  }
});
