/**
 * The event bus of a master or a minion for Python programs of this host: Salt's clients (`LocalClient`,
 * `RunnerClient`, `WheelClient`), its command lines, salt-api, and scripts that watch events (`get_event`). It runs in
 * the same thread as the bus of our own processes (pump.ts).
 *
 * Subscribers get every event on the pub socket (`master_event_pub.ipc`): one map `{head: {}, body: event}` of
 * MessagePack after the other, as Salt 3007 and 3008 read them. (3006 reads a length before each; a subscriber's
 * version is not known, so 3006 cannot subscribe.) Senders write such maps to the pull socket
 * (`master_event_pull.ipc`), each behind its length in four bytes, as all three versions do. Source: Salt 3008.3
 * `salt/transport/tcp.py` (`PubServer`, `TCPPuller`) and `salt/transport/frame.py`.
 * @module
 */

import { messageOf, MsgpackError } from "#lib/errors.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap } from "#lib/values/value.ts";
import { openToAclUsers } from "./acl_users.ts";
import { tagEnd } from "./event.ts";
import { closeQuietly } from "./close_quietly.ts";
import { type BusPaths, removeSocketFile } from "./paths.ts";
import { type PythonSubscriberOptions, PythonSubscribers } from "./python_subscribers.ts";

/** Largest event that a sender may write, in bytes. */
const MAX_EVENT_BYTES = 256 * 1024 * 1024;
/** Bytes of the length before each event that is sent to us. */
const LENGTH_BYTES = 4;

/** Options of a {@linkcode PythonBus}. */
export interface PythonBusOptions extends PythonSubscriberOptions {
  /** Ids of the users that may listen, besides the process's own. */
  readonly listeners: readonly number[];
  /** Publishes an event that a program has sent. */
  readonly publish: (event: Uint8Array) => void;
}

/** An open bus for Python programs. */
export class PythonBus {
  readonly #paths: BusPaths;
  readonly #options: PythonBusOptions;
  readonly #listeners: Deno.Listener[] = [];
  readonly #subscribers: PythonSubscribers;
  readonly #senders = new Set<Deno.Conn>();
  readonly #loops: Promise<void>[] = [];
  #closed = false;

  private constructor(paths: BusPaths, options: PythonBusOptions) {
    this.#paths = paths;
    this.#options = options;
    this.#subscribers = new PythonSubscribers(options);
  }

  /**
   * Opens both sockets; files of a dead bus are replaced.
   * @throws {Error} If it cannot.
   */
  static open(paths: BusPaths, options: PythonBusOptions): PythonBus {
    const bus = new PythonBus(paths, options);
    try {
      bus.#listen(paths.pub, (connection) => bus.#subscribers.add(connection));
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

  /** Bytes that wait for all of them. */
  get waitingBytes(): number {
    return this.#subscribers.waitingBytes;
  }

  /** Gives a packed event to every subscriber. */
  publish(event: Uint8Array): void {
    this.#subscribers.publish(event);
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
    this.#subscribers.close();
  }

  /** Closes the bus and removes its files. */
  async close(): Promise<void> {
    this.#end();
    await Promise.all(this.#loops);
    for (const path of [this.#paths.pull, this.#paths.pub]) removeSocketFile(path);
  }
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
