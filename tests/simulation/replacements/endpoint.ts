/**
 * Replaces lib/sockets/endpoint.ts in a simulation: the sockets that a minion and an MWorker use, over the simulated
 * network. A REQ whose connection is cut waits for an answer that never comes, as one of libzmq does; a SUB connects
 * again and subscribes again by itself.
 * @module
 */

import { type Connection, type Frames, network } from "#tests/simulation/world/network.ts";
import { type SimulatedProcess, world } from "#tests/simulation/world/world.ts";

/** How long a socket waits before it connects again, in milliseconds. */
const RECONNECT_MS = 100;

/** How long a socket that is closed delivers what was sent, in milliseconds. */
const LINGER_MS = 100;

/** An address of a socket of the same process. */
export interface SharedPlace {
  readonly context: bigint;
  readonly address: string;
}

/** Settings of sockets, of which the simulation uses none. */
type Settings = Readonly<Record<string, unknown>>;

/** The process that makes a socket. */
function owner(): SimulatedProcess {
  const { process } = world();
  if (process === undefined) throw new Error("A socket belongs to no process");
  return process;
}

/** A socket. */
export abstract class Endpoint {
  protected readonly process: SimulatedProcess = owner();
  protected connection: Connection | undefined;
  readonly #waiting: Frames[] = [];
  #wake: ((frames: Frames | undefined) => void) | undefined;
  #closed = false;
  #address = "";

  /** Whether it is closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The address that it is connected to. */
  get address(): string {
    return this.#address;
  }

  /** Connects now, or when somebody listens there. */
  connect(address: string): void {
    this.#address = address;
    this.#dial();
  }

  #dial(): void {
    if (this.#closed) return;
    this.connection = network().connect(this.#address, {
      process: this.process,
      receive: (frames) => this.#arrive(frames),
      lost: () => this.#lose(),
    });
    if (this.connection === undefined) world().after(RECONNECT_MS, () => (this.onLoss(), this.#dial()));
    else this.onConnection(this.connection);
  }

  #lose(): void {
    this.connection = undefined;
    if (this.#closed) return;
    this.onLoss();
    world().after(RECONNECT_MS, () => this.#dial());
  }

  /** Called with each new connection. */
  protected onConnection(_connection: Connection): void {}

  /** Called when a connection is lost, or cannot be made. */
  protected onLoss(): void {}

  #arrive(frames: Frames): void {
    if (this.#closed) return;
    if (this.#wake === undefined) this.#waiting.push(frames);
    else this.#wake(frames);
  }

  /** The next message; `undefined` after `timeoutMs` (negative: no limit), or when closed. */
  receive(timeoutMs = -1): Promise<Frames | undefined> {
    const next = this.#waiting.shift();
    if (next !== undefined || this.#closed) return Promise.resolve(next);
    return new Promise((resolve) => {
      let undo = () => {};
      this.#wake = (frames) => {
        this.#wake = undefined;
        undo();
        resolve(frames);
      };
      if (timeoutMs >= 0) undo = world().after(timeoutMs, () => this.#wake?.(undefined));
    });
  }

  /** Sends a message when it is connected, within `timeoutMs`. */
  async send(frames: Frames, timeoutMs = -1): Promise<boolean> {
    const deadline = timeoutMs < 0 ? Infinity : world().nowMs + timeoutMs;
    while (this.connection === undefined || !this.connection.open) {
      if (this.#closed || world().nowMs >= deadline) return false;
      await new Promise<void>((resolve) => {
        world().after(Math.min(RECONNECT_MS, deadline - world().nowMs), resolve);
      });
    }
    if (this.#closed) return false;
    this.connection.send(frames.map((frame) => frame.slice()));
    return true;
  }

  /** Closes it. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.connection?.cut();
    this.#wake?.(undefined);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** A socket that receives and sends. */
export class Duplex extends Endpoint {
  /** REQ. */
  static request(_settings: Settings = {}): Duplex {
    return new Duplex();
  }
}

/** A socket that only receives. */
export class Inbox extends Endpoint {
  readonly #topics = new Set<string>();
  #lost: () => void = () => {};

  /** SUB. */
  static subscriber(_settings: Settings = {}): Inbox {
    return new Inbox();
  }

  /** Calls `lost` when a connection is lost, or cannot be made. */
  onLost(lost: () => void): void {
    this.#lost = lost;
  }

  /** Receives what begins with `prefix`. */
  subscribe(prefix: string): void {
    this.#topics.add(prefix);
    this.connection?.send([subscription(1, prefix)]);
  }

  /** Ends a {@linkcode subscribe}. */
  unsubscribe(prefix: string): void {
    this.#topics.delete(prefix);
    this.connection?.send([subscription(0, prefix)]);
  }

  protected override onConnection(connection: Connection): void {
    for (const topic of this.#topics) connection.send([subscription(1, topic)]);
  }

  protected override onLoss(): void {
    this.#lost();
  }
}

/** A socket that only sends. */
export class Outbox extends Endpoint {
  /** PUSH. */
  static push(_settings: Settings = {}): Outbox {
    return new Outbox();
  }

  /** PUSH to a socket of the same process. */
  static pushTo({ address }: SharedPlace, _settings: Settings = {}): Outbox {
    const outbox = new Outbox();
    outbox.connect(address);
    return outbox;
  }

  /** What was sent is still delivered. */
  override close(): void {
    world().after(LINGER_MS, () => super.close());
  }
}

function subscription(on: 0 | 1, topic: string): Uint8Array {
  return Uint8Array.of(on, ...new TextEncoder().encode(topic));
}
