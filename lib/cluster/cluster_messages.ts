/**
 * What the threads of a master tell its Cluster thread, by a port each, and the answers. When that thread is replaced,
 * the new one gets what has no answer yet: all of it must bear to be repeated.
 * @module
 */

import { messageOf, StoreError } from "#lib/errors.ts";
import type { KeyStep } from "#lib/keys/key_bank.ts";

/** A job that the other masters publish too. */
export interface ClusterPublish {
  /** The load in MessagePack. */
  readonly load: Uint8Array;
  /** The minions that it is for. */
  readonly minions: readonly string[];
  readonly ttlMs: number;
  readonly live: boolean;
}

/** What may be asked: one field each. */
export interface ClusterRequests {
  /** Answered when it is committed, or is known to be late: `committed` or `away`. */
  readonly publish: ClusterPublish;
  /** The Publisher is a new one, which knows of no job of other masters. */
  readonly publisherReplaced: null;
  /** Where the reactor is, as its last holder wrote it; answered by bytes or `null`. */
  readonly reactorPosition: null;
  /** The reactor of this master records where it is; answered by whether it holds the lease. */
  readonly reactorTake: Uint8Array;
  /** Changes keys of minions: answered with whether each change had something to do. */
  readonly changeKeys: readonly KeyStep[];
  /** A new publish key is needed; the reason is for the log. */
  readonly rotate: string;
}

/** The name of a request. */
export type ClusterKind = keyof ClusterRequests;

/** The kinds, for a check at the edge. */
const CLUSTER_KINDS: readonly ClusterKind[] = [
  "publish",
  "publisherReplaced",
  "reactorPosition",
  "reactorTake",
  "changeKeys",
  "rotate",
];

/** A request with its number. */
export interface ClusterCall<Kind extends ClusterKind = ClusterKind> {
  readonly n: number;
  readonly kind: Kind;
  readonly argument: ClusterRequests[Kind];
}

/** What came of a call. */
export interface ClusterAnswer {
  readonly n: number;
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

/** What does a kind of request; its value survives structured clone. */
export type ClusterHandlers = {
  readonly [Kind in ClusterKind]?: (argument: ClusterRequests[Kind]) => Promise<unknown>;
};

/** What the main thread sends when there is a new Cluster thread. */
export interface NewClusterPort {
  readonly clusterPort: MessagePort;
}

/** Whether a message of the main thread is that. */
export function isNewClusterPort(message: unknown): message is NewClusterPort {
  return typeof message === "object" && message !== null && "clusterPort" in message;
}

/** An error of the Cluster thread, with the name that it had there. */
class ClusterError extends StoreError {
  constructor(name: string, message: string) {
    super(message, "");
    this.name = name;
  }
}

interface Pending {
  readonly call: ClusterCall;
  resolve(value: unknown): void;
  reject(error: ClusterError): void;
}

/** A thread's way to the Cluster thread. */
export class ClusterLink {
  #port: MessagePort;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor(port: MessagePort) {
    this.#port = this.#listen(port);
  }

  #listen(port: MessagePort): MessagePort {
    port.onmessage = ({ data }: MessageEvent<ClusterAnswer>) => this.#take(data);
    return port;
  }

  #take({ n, value, error }: ClusterAnswer): void {
    const pending = this.#pending.get(n);
    this.#pending.delete(n);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(new ClusterError(error.name, error.message));
  }

  /**
   * Asks, and waits for the answer.
   * @throws {ClusterError} If the Cluster thread could not do it.
   */
  ask<Kind extends ClusterKind>(kind: Kind, argument: ClusterRequests[Kind]): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const call: ClusterCall<Kind> = { n: ++this.#last, kind, argument };
    this.#pending.set(call.n, { call, resolve, reject });
    this.#port.postMessage(call);
    return promise;
  }

  /** The Cluster thread has a successor, which is behind this port. */
  moveTo(port: MessagePort): void {
    this.#port.close();
    this.#port = this.#listen(port);
    for (const { call } of this.#pending.values()) this.#port.postMessage(call);
  }

  /** Closes the port; what has no answer gets an error. */
  close(): void {
    this.#port.close();
    for (const { reject } of this.#pending.values()) reject(new ClusterError("StoreError", "the master ends"));
    this.#pending.clear();
  }
}

/** Answers what comes from a port. */
export function serveCluster(handlers: ClusterHandlers, port: MessagePort): void {
  port.onmessage = ({ data }: MessageEvent<ClusterCall>) => {
    Promise.try(() => perform(handlers, data)).then(
      (value): ClusterAnswer => ({ n: data.n, value }),
      (error): ClusterAnswer => ({
        n: data.n,
        error: { name: error instanceof Error ? error.name : "Error", message: messageOf(error) },
      }),
    ).then((answer) => port.postMessage(answer));
  };
}

function perform<Kind extends ClusterKind>(handlers: ClusterHandlers, call: ClusterCall<Kind>): Promise<unknown> {
  const handler = CLUSTER_KINDS.includes(call.kind) ? handlers[call.kind] : undefined;
  if (handler === undefined) throw new StoreError(`The cluster cannot do ${call.kind}`, "");
  return handler(call.argument);
}
