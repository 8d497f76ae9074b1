/**
 * Rows of jobs behind a port: the thread that has the database is another one (store_thread.ts). What one turn of the
 * event loop asks for is one message. When that thread is replaced, the new one gets what has no answer yet: all of it
 * may be repeated.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import { CalledRows, performCall } from "./called_rows.ts";
import type { JobRows } from "./rows.ts";

/** A call of a method of rows. */
export interface RowCall {
  readonly n: number;
  readonly method: string;
  readonly argument: unknown;
}

/** What came of a call: its value, or the message of its error. */
export interface RowAnswer {
  readonly n: number;
  readonly value?: unknown;
  readonly error?: { readonly message: string; readonly path: string };
}

/** What the thread that started this one sends when there is a new thread with the database. */
export interface NewStorePort {
  readonly storePort: MessagePort;
}

/** Whether a message of the main thread is that. */
export function isNewStorePort(message: unknown): message is NewStorePort {
  return typeof message === "object" && message !== null && "storePort" in message;
}

interface Pending {
  readonly call: RowCall;
  resolve(value: unknown): void;
  reject(error: StoreError): void;
}

/** The rows behind a port. */
export class RemoteRows extends CalledRows {
  #port: MessagePort;
  readonly #pending = new Map<number, Pending>();
  #unsent: RowCall[] = [];
  #last = 0;

  constructor(port: MessagePort) {
    super();
    this.#port = this.#listen(port);
  }

  #listen(port: MessagePort): MessagePort {
    port.onmessage = ({ data }: MessageEvent<RowAnswer[]>) => {
      for (const answer of data) this.#take(answer);
    };
    return port;
  }

  /** The database has moved to the thread behind this port. */
  moveTo(port: MessagePort): void {
    this.#port.close();
    this.#port = this.#listen(port);
    this.#unsent = [];
    if (this.#pending.size > 0) this.#port.postMessage([...this.#pending.values()].map(({ call }) => call));
  }

  #take({ n, value, error }: RowAnswer): void {
    const pending = this.#pending.get(n);
    this.#pending.delete(n);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(new StoreError(error.message, error.path));
  }

  protected override call<T>(method: keyof JobRows, argument?: unknown): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const call: RowCall = { n: ++this.#last, method, argument };
    // The value is what the method of the other side gave.
    this.#pending.set(call.n, { call, resolve: (value) => resolve(value as T), reject });
    if (this.#unsent.push(call) === 1) queueMicrotask(() => this.#send());
    return promise;
  }

  #send(): void {
    const calls = this.#unsent;
    this.#unsent = [];
    if (calls.length > 0) this.#port.postMessage(calls);
  }

  /** Closes the port; the rows stay open. */
  override close(): Promise<void> {
    this.#port.close();
    for (const { reject } of this.#pending.values()) reject(new StoreError("The job store is closed", ""));
    this.#pending.clear();
    return Promise.resolve();
  }
}

/** Answers what comes from a port with the methods of rows; one turn's answers are one message. */
export function serveRows(rows: JobRows, port: MessagePort): void {
  let answers: RowAnswer[] = [];
  const answer = (one: RowAnswer) => {
    if (answers.push(one) > 1) return;
    queueMicrotask(() => {
      const sent = answers;
      answers = [];
      port.postMessage(sent);
    });
  };
  port.onmessage = ({ data }: MessageEvent<RowCall[]>) => {
    for (const { n, method, argument } of data) {
      Promise.try(() => performCall(rows, method, argument)).then((value) => answer({ n, value }), (error) => {
        const { message, path } = error instanceof StoreError ? error : { message: String(error), path: "" };
        answer({ n, error: { message, path } });
      });
    }
  };
}
