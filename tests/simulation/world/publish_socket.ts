/**
 * A simulated XPUB, of the Publisher or of an event bus.
 * @module
 */

import { startsWith } from "#lib/crypto/same_bytes.ts";
import type { Connection, Frames } from "./network.ts";
import { type SimulatedProcess, world } from "./world.ts";

/** What a socket does besides publishing. */
export interface PublishOptions {
  /** Gets a topic that has its first subscriber, or lost its last one: a byte 1 or 0, and the topic. */
  onSubscription(frame: Uint8Array): void;
  /** Sent to each subscriber that asks for it. Default: nothing. */
  readonly welcome?: string;
}

/** The socket. */
export class PublishSocket {
  readonly process: SimulatedProcess;
  readonly #topics = new Map<Connection, Map<string, Uint8Array>>();
  readonly #options: PublishOptions;
  readonly #welcome: Uint8Array;
  /** How likely the next message is lost for a subscriber. */
  #loss = 0;

  /** Opens the socket of a process. */
  constructor(process: SimulatedProcess, options: PublishOptions) {
    this.process = process;
    this.#options = options;
    this.#welcome = new TextEncoder().encode(options.welcome);
  }

  /** Takes a subscription of a client. */
  receive([frame]: Frames, connection: Connection): void {
    const topics = this.#topics.get(connection) ?? new Map<string, Uint8Array>();
    this.#topics.set(connection, topics);
    const topic = frame.subarray(1), name = topic.toHex();
    if (frame[0] === 1) {
      const isFirst = !this.#has(name);
      topics.set(name, topic);
      if (this.#welcome.length > 0 && startsWith(this.#welcome, topic)) connection.answer([this.#welcome]);
      if (isFirst) this.#options.onSubscription(frame);
    } else this.#drop(topics, name);
  }

  #has(name: string): boolean {
    return this.#topics.values().some((topics) => topics.has(name));
  }

  /** Tells the master that a topic has lost its last subscriber, if it has. */
  #drop(topics: Map<string, Uint8Array>, name: string): void {
    const topic = topics.get(name);
    topics.delete(name);
    if (topic !== undefined && !this.#has(name)) this.#options.onSubscription(Uint8Array.of(0, ...topic));
  }

  /** A client is gone. */
  lost(connection: Connection): void {
    const topics = this.#topics.get(connection);
    this.#topics.delete(connection);
    for (const name of [...topics?.keys() ?? []]) this.#drop(topics!, name);
  }

  /** Cuts all its connections. */
  close(): void {
    for (const connection of [...this.#topics.keys()]) connection.cut();
    this.#topics.clear();
  }

  /** The next message is lost for some subscribers, as their queues are full. */
  loseNext(probability: number): void {
    this.#loss = probability;
  }

  /** Sends a message to everybody who asked for it. */
  publish(frame: Uint8Array): void {
    const loss = this.#loss;
    this.#loss = 0;
    for (const [connection, topics] of this.#topics) {
      if (loss > 0 && world().random.chance(loss)) continue;
      if (topics.values().some((topic) => startsWith(frame, topic))) connection.answer([frame]);
    }
  }
}
