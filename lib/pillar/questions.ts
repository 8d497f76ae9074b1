/**
 * Requests compiled pillars for an MWorker: it asks the main thread, which has processes for it (processes.ts), and
 * takes other requests meanwhile.
 * @module
 */

import { clearTimeout, setTimeout } from "../os/timers.ts";
import { packPillarRequest, type PillarRequest } from "./request.ts";
import { parsePillarMessage, type PillarQuestion } from "./messages.ts";
import { RefusedError } from "../errors.ts";

/** What compiles pillars. */
export interface PillarServices {
  /**
   * The pillar of a request as MessagePack of the wire.
   * @throws {RefusedError} If too many wait, or the master is ending.
   */
  compile(request: PillarRequest): Promise<Uint8Array>;
}

interface Asked {
  readonly resolve: (pillar: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/** The pillars that this thread has requested. */
export class PillarQuestions implements PillarServices {
  readonly #asked = new Map<string, Asked>();
  readonly #post: (question: PillarQuestion) => void;
  readonly #park: () => void;
  readonly #waitMs: number;

  /** @param park Called when a request begins to wait. @param waitMs Longest wait for an answer, in milliseconds. */
  constructor(post: (question: PillarQuestion) => void, park: () => void, waitMs: number) {
    this.#post = post;
    this.#park = park;
    this.#waitMs = waitMs;
  }

  /** Asks for a pillar. @throws {RefusedError} */
  async compile(request: PillarRequest): Promise<Uint8Array> {
    const key = crypto.randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.#asked.set(key, { resolve, reject });
    const timer = setTimeout(() => reject(refused("it took too long")), this.#waitMs);
    this.#post({ kind: "pillar", key, id: request.id, request: packPillarRequest(request) });
    this.#park();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#asked.delete(key);
    }
  }

  /** Takes news from the main thread. Those for a predecessor of this thread are ignored. */
  receive(message: unknown): void {
    const { key, state, pillar } = parsePillarMessage(message);
    const asked = this.#asked.get(key);
    if (state === "compiled") asked?.resolve(pillar);
    else asked?.reject(refused(state === "full" ? "too many minions wait for theirs" : "the master is ending"));
  }
}

function refused(reason: string): RefusedError {
  return new RefusedError("SaltMasterError", `The pillar cannot be compiled: ${reason}`);
}
