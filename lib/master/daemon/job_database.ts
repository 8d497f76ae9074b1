/**
 * The thread that has the database of jobs, if they are in one, and the ports by which the other threads reach it.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { type PortPost, ThreadPorts } from "#lib/runtime/thread_ports.ts";
import type { SupervisedThread } from "#lib/sockets/supervised_thread.ts";
import { type NewStorePort, RemoteRows } from "#lib/stores/remote_rows.ts";
import type { JobRows } from "#lib/stores/rows.ts";
import { jobStoreKind } from "#lib/stores/store_options.ts";
import type { StoreInit } from "#lib/stores/store_thread.ts";
import type { MasterThreads } from "./master_threads.ts";
import { running } from "./starting.ts";

/** The database of one master. */
export class JobDatabase {
  /** Stops after the threads that use it. */
  readonly thread: SupervisedThread<StoreInit>;
  readonly #ports: ThreadPorts<NewStorePort>;

  private constructor(init: Omit<StoreInit, "sockets">, threads: MasterThreads) {
    const thread: SupervisedThread<StoreInit> = this.thread = threads.keep<StoreInit>(
      "JobStore",
      new URL("../../stores/store_thread.ts", import.meta.url),
      { init: () => init, onSuccessor: () => this.#ports.replaced() },
    );
    this.#ports = new ThreadPorts(
      (message, transfer) => thread.post(message, transfer),
      (storePort) => ({ storePort }),
    );
  }

  /**
   * Starts its thread; `undefined` if jobs are in files.
   * @throws {PreflightError} If the database cannot be used.
   */
  static async start(
    opts: MasterOpts,
    init: Omit<StoreInit, "sockets">,
    threads: MasterThreads,
  ): Promise<JobDatabase | undefined> {
    if (jobStoreKind(opts) === "local_cache") return undefined;
    const database = new JobDatabase(init, threads);
    await running(database.thread);
    return database;
  }

  /** A port for a thread that starts; the ports to successors of the database's thread are posted. */
  openFor(name: string, post: PortPost<NewStorePort>): MessagePort {
    return this.#ports.openFor(name, post);
  }

  /** The database for the main thread. */
  mainRows(): JobRows {
    const rows: RemoteRows = new RemoteRows(this.openFor("main", ({ storePort }) => rows.moveTo(storePort)));
    return rows;
  }
}
