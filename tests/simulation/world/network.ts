/**
 * The simulated network: servers at addresses, connections that delay messages, stall and are cut. Messages of one
 * connection keep their order; one that is on its way when its connection is cut, or its receiver dies, is lost.
 * @module
 */

import { type SimulatedProcess, world } from "./world.ts";

/** A message of ZeroMQ: its frames. */
export type Frames = Uint8Array[];

/** What listens at an address. */
export interface Listener {
  readonly process: SimulatedProcess;
  /** Takes a message of a client. `answer` sends one back over the same connection. */
  receive(frames: Frames, connection: Connection): void;
  /** A client is there. */
  connected?(connection: Connection): void;
  /** A client is gone. */
  lost?(connection: Connection): void;
}

/** The client's side of a connection. */
export interface Client {
  readonly process: SimulatedProcess;
  receive(frames: Frames): void;
  lost(): void;
}

/** Milliseconds that a message takes. */
const LEAST_MS = 0.1, MOST_MS = 20;

/** A connection of a client to a listener. */
export class Connection {
  /** Whether it is one between hosts. */
  readonly isWire: boolean;
  readonly #client: Client;
  readonly #listener: Listener;
  /** When the last message of each direction arrives: a later one does not overtake it. */
  #toListenerMs = 0;
  #toClientMs = 0;
  #stalledUntilMs = 0;
  #open = true;

  /** Connects a client to a listener. */
  constructor(address: string, client: Client, listener: Listener) {
    this.isWire = address.startsWith("tcp:");
    this.#client = client;
    this.#listener = listener;
  }

  /** The process of the client. */
  get client(): SimulatedProcess {
    return this.#client.process;
  }

  /** The process that listens. */
  get server(): SimulatedProcess {
    return this.#listener.process;
  }

  /** Whether messages still go through. */
  get open(): boolean {
    return this.#open;
  }

  #arrival(lastMs: number): number {
    return Math.max(lastMs, this.#stalledUntilMs, world().nowMs + world().random.between(LEAST_MS, MOST_MS));
  }

  /** Sends a message to the listener. */
  send(frames: Frames): void {
    if (!this.#open) return;
    this.#toListenerMs = this.#arrival(this.#toListenerMs);
    this.#deliver(this.#toListenerMs, this.#listener.process, () => this.#listener.receive(frames, this));
  }

  /** Sends a message to the client. */
  answer(frames: Frames): void {
    if (!this.#open) return;
    this.#toClientMs = this.#arrival(this.#toClientMs);
    this.#deliver(this.#toClientMs, this.#client.process, () => this.#client.receive(frames));
  }

  #deliver(atMs: number, process: SimulatedProcess, run: () => void): void {
    world().after(atMs - world().nowMs, () => this.#open && run(), process);
  }

  /** Holds messages up for a time. */
  stall(ms: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, world().nowMs + ms);
  }

  /** Cuts it; both sides are told, if they live. */
  cut(): void {
    if (!this.#open) return;
    this.#open = false;
    const tell = (process: SimulatedProcess, run: () => void) =>
      world().after(world().random.between(LEAST_MS, MOST_MS), run, process);
    tell(this.#client.process, () => this.#client.lost());
    tell(this.#listener.process, () => this.#listener.lost?.(this));
  }
}

/** The addresses and connections of one world. */
export class Network {
  readonly #listeners = new Map<string, Listener>();
  readonly #connections = new Set<Connection>();
  /** Processes that reach no other host. */
  readonly #isolated = new Set<string>();

  /** A process reaches no other host, until {@linkcode join}. */
  isolate(name: string): void {
    this.#isolated.add(name);
    for (const wire of this.wires) if (wire.client.name === name) wire.cut();
  }

  /** Ends an {@linkcode isolate}. */
  join(name: string): void {
    this.#isolated.delete(name);
  }

  /** Open connections between hosts: those within a host are neither slow nor cut. */
  get wires(): Connection[] {
    return [...this.#connections].filter(({ open, isWire }) => open && isWire);
  }

  /** Listens at an address until its process dies. */
  listen(address: string, listener: Listener): void {
    this.#listeners.set(address, listener);
  }

  /** Whether somebody listens at an address. */
  listens(address: string): boolean {
    return this.#listeners.get(address)?.process.alive ?? false;
  }

  /** Connects to whoever listens at an address; `undefined` if nobody does. */
  connect(address: string, client: Client): Connection | undefined {
    const listener = this.#listeners.get(address);
    if (listener === undefined || !listener.process.alive || !client.process.alive) return undefined;
    if (address.startsWith("tcp:") && this.#isolated.has(client.process.name)) return undefined;
    const connection = new Connection(address, client, listener);
    this.#connections.add(connection);
    world().after(world().random.between(LEAST_MS, MOST_MS), () => listener.connected?.(connection), listener.process);
    return connection;
  }

  /** Cuts every connection of a process that died. */
  forget(process: SimulatedProcess): void {
    for (const connection of this.#connections) {
      if (connection.client === process || connection.server === process) connection.cut();
      if (!connection.open) this.#connections.delete(connection);
    }
  }
}

let running: Network | undefined;

/** The network of the running world. */
export function network(): Network {
  if (running === undefined) throw new Error("No network is running");
  return running;
}

/** Begins a network without addresses. */
export function beginNetwork(): Network {
  return running = new Network();
}
