/**
 * The event bus of a simulated master: a pump of the simulation around the real log of events, which tells its readers
 * what was written. It says to a subscriber when all its subscriptions are active.
 * @module
 */

import { logSocket, masterBus } from "#lib/bus/paths.ts";
import { ANSWERS_NAMES, BUS_WELCOME } from "#lib/bus/subscriber.ts";
import { readSubscriberTopic } from "#lib/bus/subscribers.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { setTimeout, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { network } from "#tests/simulation/world/network.ts";
import { PublishSocket } from "#tests/simulation/world/publish_socket.ts";
import type { SimulatedProcess } from "#tests/simulation/world/world.ts";

/** How long readers of the log wait for more, in milliseconds. */
const TELL_MS = 100;

/** What a bus is opened with. */
export interface SimulatedBusParts {
  readonly process: SimulatedProcess;
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** The address for events of the same process. */
  readonly events: string;
  /** The number of the first event of a new log, of a master of a cluster. */
  readonly firstNumber?: number;
  /** Gets each event before its subscribers. */
  onEvent(frame: Uint8Array): void;
}

/** The bus of one master. */
export class SimulatedBus {
  readonly #subscribers: PublishSocket;
  readonly #readers: PublishSocket;
  readonly #writer: EventLogWriter;
  readonly #onEvent: (frame: Uint8Array) => void;
  readonly #unwritten: Uint8Array[] = [];
  #next = 0;
  #telling: Timer | undefined;

  /** Opens its sockets and its log. */
  constructor({ process, opts, log, events, firstNumber, onEvent }: SimulatedBusParts) {
    const paths = masterBus(opts.sock_dir);
    this.#onEvent = onEvent;
    this.#subscribers = new PublishSocket(process, {
      welcome: BUS_WELCOME + ANSWERS_NAMES,
      onSubscription: (frame) => {
        const topic = new TextDecoder().decode(frame.subarray(1));
        if (frame[0] === 1 && readSubscriberTopic(topic) !== undefined) {
          this.#subscribers.publish(new TextEncoder().encode(`${topic}\n0`));
        }
      },
    });
    this.#readers = new PublishSocket(process, { welcome: BUS_WELCOME, onSubscription: () => {} });
    this.#writer = new EventLogWriter(eventLogDirectory(opts.cachedir), {
      keepS: opts.event_log_keep,
      maxBytes: opts.event_log_max_bytes,
    }, {
      log,
      onWritten: (next, unwritten) => this.#tell(next, unwritten),
      ...firstNumber !== undefined && { firstNumber },
    });
    network().listen(`ipc://${paths.pub}`, this.#subscribers);
    network().listen(`ipc://${logSocket(paths)}`, this.#readers);
    for (const address of [events, `ipc://${paths.pull}`]) {
      network().listen(address, { process, receive: ([frame]) => this.publish(frame) });
    }
  }

  /** Tells readers of the log that there is more, a little later and once for all: each look takes its time here. */
  #tell(next: number, unwritten: Uint8Array = new Uint8Array()): void {
    this.#unwritten.push(unwritten);
    this.#next = next;
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      const number = new Uint8Array(8);
      new DataView(number.buffer).setFloat64(0, this.#next);
      this.#readers.publish(joinBytes([number, ...this.#unwritten.splice(0)]));
    }, TELL_MS);
  }

  /** Publishes an event. */
  publish(frame: Uint8Array): void {
    this.#onEvent(frame);
    this.#subscribers.publish(frame);
    this.#writer.append(frame);
  }
}
