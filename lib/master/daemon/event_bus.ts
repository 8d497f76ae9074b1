/**
 * The thread of the master's event bus, and where threads of the master and other processes reach it.
 * @module
 */

import type { BusThreadInit } from "#lib/bus/thread.ts";
import { busStatePath } from "#lib/bus/state_file.ts";
import { logSocket, masterBus, pythonBus, removeSocketFile } from "#lib/bus/paths.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { SharedPlace } from "#lib/sockets/endpoint.ts";
import { ZmqContext } from "#lib/sockets/libzmq.ts";
import type { SupervisedThread } from "#lib/sockets/supervised_thread.ts";
import type { MasterThreads } from "./master_threads.ts";
import { listening } from "./starting.ts";

/**
 * The address of the event bus for the threads of this process: in memory, without libzmq's threads in between, and
 * without system calls while both sides are busy.
 */
const EVENTS = "inproc://events";

/** More events than a master of a cluster ever fires in a millisecond. */
const EVENTS_PER_MS = 100;

/** The event bus of one master. */
export class MasterEventBus {
  readonly #opts: MasterOpts;
  /** The context of the sockets between the master's threads and the bus, which outlives the proxy of requests. */
  readonly #context = ZmqContext.create();
  #thread: SupervisedThread | undefined;

  constructor(opts: MasterOpts) {
    this.#opts = opts;
  }

  /** Its thread, which stops after the others, because they still fire events. */
  get thread(): SupervisedThread | undefined {
    return this.#thread;
  }

  /**
   * Starts it.
   * @param options.listeners The uids of other users who may listen.
   * @param options.inCluster Whether other masters know the numbers of its events.
   * @returns Where threads of this process reach it.
   * @throws {PreflightError} If its sockets cannot be bound.
   */
  async start(
    threads: MasterThreads,
    { listeners, inCluster }: { readonly listeners: readonly number[]; readonly inCluster: boolean },
  ): Promise<SharedPlace> {
    const opts = this.#opts;
    const place: SharedPlace = { context: this.#context.address, address: EVENTS };
    const init = {
      paths: masterBus(opts.sock_dir),
      python: pythonBus(opts.sock_dir),
      maxWaitingEvents: opts.event_publisher_pub_hwm,
      place,
      listeners,
      ...opts.event_log !== "none" && {
        eventLog: {
          directory: eventLogDirectory(opts.cachedir),
          keepS: opts.event_log_keep,
          maxBytes: opts.event_log_max_bytes,
          // Other masters know numbers of events: those of a log that is made anew are above them.
          ...inCluster && { firstNumber: Date.now() * EVENTS_PER_MS },
        },
      },
    };
    const url = new URL("../../bus/thread.ts", import.meta.url);
    this.#thread = threads.keep<BusThreadInit>("EventBus", url, { init: () => init });
    await listening("the event bus", this.#thread.ready);
    return place;
  }

  /** Ends what its sockets in memory need. Only when no thread has such a socket: it waits for them. */
  terminate(): void {
    this.#context.terminate();
  }

  /** Removes the files of its sockets. */
  removeFiles(): void {
    const [paths, python] = [masterBus(this.#opts.sock_dir), pythonBus(this.#opts.sock_dir)];
    for (const path of [paths.pull, paths.pub, busStatePath(paths), logSocket(paths), python.pull, python.pub]) {
      removeSocketFile(path);
    }
  }
}
