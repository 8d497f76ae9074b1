/**
 * The master's event bus for Python programs of this host: Salt's clients (`LocalClient`, `RunnerClient`,
 * `WheelClient`), its command lines, salt-api, and scripts that watch events. It runs in the same thread as the bus of
 * our own processes (pump.ts).
 *
 * Subscribers get every event on `master_event_pub.ipc`: one map `{head: {}, body: event}` of MessagePack after the
 * other, as Salt 3007 and 3008 read them. (3006 reads a length before each; a subscriber's version is not known, so
 * 3006 cannot subscribe.) Senders write such maps to `master_event_pull.ipc`, each behind its length in four bytes, as
 * all three versions do. Source: Salt 3008.3 `salt/transport/tcp.py` (`PubServer`, `TCPPuller`) and
 * `salt/transport/frame.py`.
 * @module
 */

import { messageOf, MsgpackError } from "../errors.ts";
import type { Logger } from "../process/log.ts";
import { joinBytes } from "../values/join_bytes.ts";
import { decode, encode } from "../values/msgpack.ts";
import { isMap, type Value } from "../values/value.ts";
import { openToAclUsers } from "./acl_users.ts";
import { tagEnd } from "./event.ts";
import { type BusPaths, removeSocketFile } from "./paths.ts";

/** Bytes that are queued for one subscriber that does not read; it misses further events. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Largest event that a sender may write, in bytes. */
const MAX_EVENT_BYTES = 256 * 1024 * 1024;
/** Bytes of the length before each event that is sent to us. */
const LENGTH_BYTES = 4;

/** Options of a {@linkcode PythonBus}. */
export interface PythonBusOptions {
  readonly log: Logger;
  /** Ids of the users that may listen, besides the process's own. */
  readonly listeners: readonly number[];
  /** Publishes an event that a program has sent. */
  readonly publish: (event: Uint8Array) => void;
  /** Bytes that wait for one subscriber. Default: {@linkcode MAX_WAITING_BYTES}. */
  readonly waitingBytes?: number;
}

/** An open bus for Python programs. */
export class PythonBus {
  readonly #paths: BusPaths;
  readonly #options: PythonBusOptions;
  readonly #listeners: Deno.Listener[] = [];
  readonly #subscribers = new Set<PythonSubscriber>();
  readonly #senders = new Set<Deno.Conn>();
  readonly #loops: Promise<void>[] = [];
  #closed = false;

  private constructor(paths: BusPaths, options: PythonBusOptions) {
    this.#paths = paths;
    this.#options = options;
  }

  /** Opens both sockets; files of a dead bus are replaced. @throws {Error} If it cannot. */
  static open(paths: BusPaths, options: PythonBusOptions): PythonBus {
    const bus = new PythonBus(paths, options);
    try {
      bus.#listen(paths.pub, (connection) => bus.#addSubscriber(connection));
      bus.#listen(paths.pull, (connection) => bus.#readEvents(connection));
      if (options.listeners.length > 0) openToAclUsers(paths.pub, "connect", options.listeners);
    } catch (error) {
      bus.#end();
      throw error;
    }
    return bus;
  }

  /** Number of programs that listen. */
  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** Gives a packed event to every subscriber. */
  publish(event: Uint8Array): void {
    if (this.#subscribers.size === 0) return;
    const framed = frameEvent(event);
    for (const subscriber of this.#subscribers) subscriber.offer(framed);
  }

  #listen(path: string, serve: (connection: Deno.Conn) => void | Promise<void>): void {
    removeSocketFile(path);
    const listener = Deno.listen({ transport: "unix", path });
    this.#listeners.push(listener);
    Deno.chmodSync(path, 0o600);
    this.#loops.push(this.#accept(listener, serve));
  }

  async #accept(listener: Deno.Listener, serve: (connection: Deno.Conn) => void | Promise<void>): Promise<void> {
    try {
      for await (const connection of listener) void serve(connection);
    } catch (error) {
      if (!this.#closed) {
        this.#options.log.error(`Python programs can no longer reach the event bus: ${messageOf(error)}`);
      }
    }
  }

  #addSubscriber(connection: Deno.Conn): void {
    const { log, waitingBytes = MAX_WAITING_BYTES } = this.#options;
    const subscriber = new PythonSubscriber(connection, { log, waitingBytes });
    this.#subscribers.add(subscriber);
    void subscriber.gone.then(() => this.#subscribers.delete(subscriber));
  }

  async #readEvents(connection: Deno.Conn): Promise<void> {
    this.#senders.add(connection);
    try {
      for await (const event of sentEvents(connection)) this.#options.publish(event);
    } catch (error) {
      // The program ended in the middle of an event.
      if (!(error instanceof MsgpackError)) return;
      this.#options.log.warning(`A program has sent an invalid event to ${this.#paths.pull}: ${error.message}`);
    } finally {
      this.#senders.delete(connection);
      closeQuietly(connection);
    }
  }

  #end(): void {
    this.#closed = true;
    for (const listener of this.#listeners) closeQuietly(listener);
    for (const connection of this.#senders) closeQuietly(connection);
    for (const subscriber of this.#subscribers) subscriber.close();
  }

  /** Closes the bus and removes its files. */
  async close(): Promise<void> {
    this.#end();
    await Promise.all(this.#loops);
    for (const path of [this.#paths.pull, this.#paths.pub]) removeSocketFile(path);
  }
}

/** A program that listens, and the events that wait for it. */
class PythonSubscriber {
  readonly #connection: Deno.Conn;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #log: Logger;
  readonly #mostBytes: number;
  #waiting = 0;
  #missed = 0;
  #missing = false;
  /** Resolves when it has gone. */
  readonly gone: Promise<void>;

  constructor(connection: Deno.Conn, { log, waitingBytes }: { log: Logger; waitingBytes: number }) {
    this.#connection = connection;
    this.#writer = connection.writable.getWriter();
    this.#log = log;
    this.#mostBytes = waitingBytes;
    this.#writer.closed.catch(() => {});
    this.gone = this.#watch();
  }

  /** Sends a framed event, if there is room for it. */
  offer(framed: Uint8Array): void {
    // An event that is larger than the whole queue is still sent to a subscriber that reads.
    if (this.#waiting > 0 && this.#waiting + framed.length > this.#mostBytes) {
      if (!this.#missing) this.#log.warning(`A Python program on the event bus does not read: it misses events now`);
      this.#missing = true;
      this.#missed++;
      return;
    }
    this.#waiting += framed.length;
    this.#writer.write(framed).then(() => this.#sent(framed.length), () => this.close());
  }

  #sent(bytes: number): void {
    this.#waiting -= bytes;
    if (!this.#missing || this.#waiting > this.#mostBytes / 2) return;
    this.#missing = false;
    this.#log.warning(`A Python program on the event bus reads again; it has missed ${this.#missed} events so far`);
  }

  /** Subscribers send nothing; this read ends when they disconnect. */
  async #watch(): Promise<void> {
    const ignored = new Uint8Array(1_024);
    try {
      while (await this.#connection.read(ignored) !== null);
    } catch {
      // The program or this bus closed the connection.
    }
    this.close();
  }

  close(): void {
    closeQuietly(this.#connection);
  }
}

/** The map that carries a packed event. */
function frameEvent(event: Uint8Array): Uint8Array {
  return encode(new Map<string, Value>([["head", new Map()], ["body", event]]), "disk");
}

/**
 * The events that a program writes, until it ends.
 * @throws {MsgpackError} If it writes something else.
 */
async function* sentEvents(connection: Deno.Conn): AsyncGenerator<Uint8Array> {
  const source = new ExactReader(connection);
  for (;;) {
    const head = await source.read(LENGTH_BYTES);
    if (head === undefined) return;
    const length = new DataView(head.buffer).getUint32(0);
    if (length > MAX_EVENT_BYTES) throw new MsgpackError(`${length} bytes in one event`);
    const content = await source.read(length);
    if (content === undefined) return;
    const framed = decode(content, "disk");
    const body = isMap(framed) ? framed.get("body") : undefined;
    if (!(body instanceof Uint8Array) || tagEnd(body) < 0) throw new MsgpackError("it has no tag");
    yield body;
  }
}

/** Reads exactly the requested number of bytes. */
class ExactReader {
  readonly #connection: Deno.Conn;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  /** The next `size` bytes; nothing if the connection ends before. */
  async read(size: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (this.#size < size) {
      const part = new Uint8Array(64 * 1024);
      const count = await this.#connection.read(part);
      if (count === null) return undefined;
      this.#parts.push(part.subarray(0, count));
      this.#size += count;
    }
    const all = joinBytes(this.#parts);
    this.#parts = [all.subarray(size)];
    this.#size -= size;
    return all.slice(0, size);
  }
}

/** Closes something that may be closed already. */
function closeQuietly(open: Disposable & { close(): void }): void {
  try {
    open.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
