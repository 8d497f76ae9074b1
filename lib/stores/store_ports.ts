/**
 * The main thread's side of the thread that has the database of jobs: gives every thread a port to it, and a new one
 * when that thread is replaced.
 * @module
 */

import type { NewStorePort } from "./remote_rows.ts";

/** Sends a message, and hands ports in it over. */
export type PortPost = (message: NewStorePort, transfer: readonly MessagePort[]) => void;

/** The ports to the thread that has the database. */
export class StorePorts {
  readonly #store: PortPost;
  readonly #takers = new Map<string, PortPost>();

  /** @param store Sends to the thread with the database, or to its successor. */
  constructor(store: PortPost) {
    this.#store = store;
  }

  /** The thread with the database has a successor: all others get new ports. */
  replaced(): void {
    for (const post of this.#takers.values()) {
      const storePort = this.open();
      post({ storePort }, [storePort]);
    }
  }

  /**
   * A port for a thread that starts; its next ones are posted.
   * @param name The name of the thread, whose predecessor gets no more.
   */
  openFor(name: string, post: PortPost): MessagePort {
    this.#takers.set(name, post);
    return this.open();
  }

  /** A way to the database, for a thread that will not be told of a successor. */
  open(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#store({ storePort: port1 }, [port1]);
    return port2;
  }
}
