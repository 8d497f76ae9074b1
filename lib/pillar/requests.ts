/**
 * Requests compiled pillars for an MWorker: it asks the main thread, which has processes for it (processes.ts), and
 * takes other requests meanwhile.
 * @module
 */

import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { packPillarRequest, type PillarRequest } from "./request.ts";
import { parsePillarReplyMessage, type PillarRequestMessage } from "./messages.ts";
import { RefusedError } from "#lib/errors.ts";

/** The service that compiles pillars. */
export interface PillarServices {
  /**
   * The pillar of a request as MessagePack of the wire.
   * @throws {RefusedError} If too many wait, or the master is ending.
   */
  compile(request: PillarRequest): Promise<Uint8Array>;
}

interface Pending {
  readonly resolve: (pillar: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/** The pillars that this thread has requested. */
export class PillarRequests implements PillarServices {
  readonly #pending = new Map<string, Pending>();
  readonly #post: (message: PillarRequestMessage) => void;
  readonly #park: () => void;
  readonly #waitMs: number;

  /**
   * @param park Called when a request begins to wait.
   * @param waitMs Longest wait for an answer, in milliseconds.
   */
  constructor(post: (message: PillarRequestMessage) => void, park: () => void, waitMs: number) {
    this.#post = post;
    this.#park = park;
    this.#waitMs = waitMs;
  }

  /**
   * Requests a pillar.
   * @throws {RefusedError}
   */
  async compile(request: PillarRequest): Promise<Uint8Array> {
    const key = crypto.randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.#pending.set(key, { resolve, reject });
    const timer = setTimeout(() => reject(refuse("it took too long")), this.#waitMs);
    this.#post({ kind: "pillar", key, id: request.id, request: packPillarRequest(request) });
    this.#park();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(key);
    }
  }

  /** Handles a reply of the main thread. Replies to a predecessor of this thread are ignored. */
  receive(message: unknown): void {
    const { key, state, pillar } = parsePillarReplyMessage(message);
    const pending = this.#pending.get(key);
    if (state === "compiled") pending?.resolve(pillar);
    else pending?.reject(refuse(state === "full" ? "too many minions wait for theirs" : "the master is ending"));
  }
}

function refuse(reason: string): RefusedError {
  return new RefusedError("SaltMasterError", `The pillar cannot be compiled: ${reason}`);
}
