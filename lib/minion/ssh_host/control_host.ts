/**
 * The control host, as a process on a host of `salt-ssh` sees it: it sends the call, and answers requests.
 * @module
 */

import { messageOf, WireError } from "#lib/errors.ts";
import { writeAllAsync } from "#lib/os/write_all.ts";
import {
  type HostAnswer,
  type HostMessage,
  messageReader,
  packHostMessage,
  type SshCall,
  unpackAnswer,
  unpackCall,
} from "#lib/ssh/messages.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The connection over standard input and output. */
export class ControlHost {
  readonly #call = Promise.withResolvers<SshCall | undefined>();
  readonly #waiting = new Map<number, (answer: HostAnswer) => void>();
  readonly #gone = new AbortController();
  #requests = 0;
  /** The end of what has been written so far: messages are written one after the other. */
  #written: Promise<void> = Promise.resolve();

  constructor() {
    void this.#read();
  }

  /** Aborted when the connection has ended. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** What is to be done; `undefined` if the connection ended before. */
  call(): Promise<SshCall | undefined> {
    return this.#call.promise;
  }

  /**
   * Sends a request as a minion sends it to its master.
   * @throws {WireError} If it failed there.
   */
  async request(load: ValueMap): Promise<Value> {
    const number = ++this.#requests;
    const { promise, resolve, reject } = Promise.withResolvers<HostAnswer>();
    const gone = () => reject(this.signal.reason);
    this.#waiting.set(number, resolve);
    this.signal.addEventListener("abort", gone);
    try {
      this.signal.throwIfAborted();
      this.post({ what: "request", number, load });
      const answer = await promise;
      if ("error" in answer) throw new WireError(answer.error);
      return answer.value;
    } finally {
      this.#waiting.delete(number);
      this.signal.removeEventListener("abort", gone);
    }
  }

  /** Sends a message. */
  post(message: HostMessage): void {
    const bytes = packHostMessage(message);
    this.#written = this.#written.then(() => writeAllAsync(Deno.stdout, bytes)).catch(() => {
      // The connection is gone, which the end of the input tells.
    });
  }

  /** Sends the last message, and waits until it is written. */
  async end(last: HostMessage): Promise<void> {
    this.post(last);
    await this.#written;
  }

  async #read(): Promise<void> {
    const reader = messageReader();
    let isFirst = true;
    let why = "The connection to the control host has ended";
    try {
      for await (const piece of Deno.stdin.readable) {
        for (const { content } of reader.push(piece)) {
          if (isFirst) this.#call.resolve(unpackCall(content));
          else {
            const { number, answer } = unpackAnswer(content);
            this.#waiting.get(number)?.(answer);
          }
          isFirst = false;
        }
      }
    } catch (error) {
      why = messageOf(error);
    }
    this.#call.resolve(undefined);
    this.#gone.abort(new Error(why));
  }
}
