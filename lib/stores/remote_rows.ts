/**
 * Rows of jobs behind a port: the thread that has the database is another one (store_thread.ts). What one turn of the
 * event loop asks for is one message. When that thread is replaced, the new one gets what has no answer yet: all of it
 * may be repeated.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import type { CleaningLimits } from "#lib/jobs/store.ts";
import type {
  AckWrite,
  BatchWrite,
  JobReturnRow,
  JobRow,
  JobRows,
  JobWrite,
  OutputWrite,
  PageQuery,
  PageRow,
  ReturnWrite,
  RowsStatus,
} from "./rows.ts";

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
export class RemoteRows implements JobRows {
  #port: MessagePort;
  readonly #pending = new Map<number, Pending>();
  #unsent: RowCall[] = [];
  #last = 0;

  constructor(port: MessagePort) {
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

  #call<T>(method: keyof JobRows, argument?: unknown): Promise<T> {
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

  /** As {@linkcode JobRows} says. */
  saveJob(write: JobWrite): Promise<boolean> {
    return this.#call("saveJob", write);
  }

  /** As {@linkcode JobRows} says. */
  saveReturn(write: ReturnWrite): Promise<"stored" | "duplicate"> {
    return this.#call("saveReturn", write);
  }

  /** As {@linkcode JobRows} says. */
  saveAck(write: AckWrite): Promise<void> {
    return this.#call("saveAck", write);
  }

  /** As {@linkcode JobRows} says. */
  saveOutput(write: OutputWrite): ReturnType<JobRows["saveOutput"]> {
    return this.#call("saveOutput", write);
  }

  /** As {@linkcode JobRows} says. */
  saveBatch(write: BatchWrite): Promise<void> {
    return this.#call("saveBatch", write);
  }

  /** As {@linkcode JobRows} says. */
  job(jid: string): Promise<JobRow | undefined> {
    return this.#call("job", jid);
  }

  /** As {@linkcode JobRows} says. */
  returns(jid: string, id: string | null): Promise<JobReturnRow[]> {
    return this.#call("returns", [jid, id]);
  }

  /** As {@linkcode JobRows} says. */
  acks(jid: string): ReturnType<JobRows["acks"]> {
    return this.#call("acks", jid);
  }

  /** As {@linkcode JobRows} says. */
  outputs(jid: string, id: string): Promise<Uint8Array[]> {
    return this.#call("outputs", [jid, id]);
  }

  /** As {@linkcode JobRows} says. */
  outputIds(jid: string): Promise<string[]> {
    return this.#call("outputIds", jid);
  }

  /** As {@linkcode JobRows} says. */
  batch(jid: string): Promise<Uint8Array | undefined> {
    return this.#call("batch", jid);
  }

  activeBatches(): ReturnType<JobRows["activeBatches"]> {
    return this.#call("activeBatches");
  }

  /** As {@linkcode JobRows} says. */
  page(query: PageQuery): Promise<PageRow[]> {
    return this.#call("page", query);
  }

  /** As {@linkcode JobRows} says. */
  clean(limits: CleaningLimits): Promise<number> {
    return this.#call("clean", limits);
  }

  status(): Promise<RowsStatus> {
    return this.#call("status");
  }

  /** Closes the port; the rows stay open. */
  close(): Promise<void> {
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
      Promise.try(() => perform(rows, method, argument)).then((value) => answer({ n, value }), (error) => {
        const { message, path } = error instanceof StoreError ? error : { message: String(error), path: "" };
        answer({ n, error: { message, path } });
      });
    }
  };
}

/** The argument is what {@linkcode RemoteRows} of the same build sent. */
function perform(rows: JobRows, method: string, argument: unknown): Promise<unknown> {
  switch (method) {
    case "saveJob":
      return rows.saveJob(argument as JobWrite);
    case "saveReturn":
      return rows.saveReturn(argument as ReturnWrite);
    case "saveAck":
      return rows.saveAck(argument as AckWrite);
    case "saveOutput":
      return rows.saveOutput(argument as OutputWrite);
    case "saveBatch":
      return rows.saveBatch(argument as BatchWrite);
    case "returns":
      return rows.returns(...argument as [string, string | null]);
    case "outputs":
      return rows.outputs(...argument as [string, string]);
    case "page":
      return rows.page(argument as PageQuery);
    case "clean":
      return rows.clean(argument as CleaningLimits);
    case "activeBatches":
    case "status":
      return rows[method]();
    case "job":
    case "acks":
    case "outputIds":
    case "batch":
      return rows[method](argument as string);
    default:
      throw new StoreError(`The job store cannot do ${method}`, "");
  }
}
