/**
 * The Python programs that listen to the event bus (python_bus.ts), and the events that wait for them. Their number is
 * bounded, and so is what waits for all of them together: when it is too much, those that do not read miss events, and
 * then are disconnected; those that read miss nothing. Small events that wait for a program are written together.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { Value } from "#lib/values/value.ts";
import { closeQuietly } from "./close_quietly.ts";

/** Bytes that wait for all programs together. An event that waits for several of them counts once. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Programs that listen at the same time. */
const MAX_SUBSCRIBERS = 256;
/** A program that reads nothing for this time, while something waits for it, does not read: milliseconds. */
const STALLED_MS = 5_000;
/** Bytes of events that are written together. A larger event is written alone. */
const WRITE_BYTES = 64 * 1024;
/** What an event costs besides its bytes, and its place in a queue. */
const EVENT_COST = 256;
const PLACE_COST = 16;
/** At least this part of the bound is made free at once, so that not each event looks for room again. */
const FREED_PART = 64;

/** Settings of {@linkcode PythonSubscribers}. */
export interface PythonSubscriberOptions {
  readonly log: Logger;
  /** Bytes that wait for all of them together. Default: {@linkcode MAX_WAITING_BYTES}. */
  readonly waitingBytes?: number;
  /** Default: {@linkcode MAX_SUBSCRIBERS}. */
  readonly mostSubscribers?: number;
  /** Default: {@linkcode STALLED_MS}. */
  readonly stalledMs?: number;
}

/** The programs that listen to one bus. */
export class PythonSubscribers {
  readonly #options: Required<PythonSubscriberOptions>;
  readonly #all = new Set<PythonSubscriber>();
  readonly #waiting = new WaitingBytes();
  #refusing = false;

  constructor(options: PythonSubscriberOptions) {
    this.#options = {
      waitingBytes: MAX_WAITING_BYTES,
      mostSubscribers: MAX_SUBSCRIBERS,
      stalledMs: STALLED_MS,
      ...options,
    };
  }

  /** Their number. */
  get size(): number {
    return this.#all.size;
  }

  /** Bytes that wait for all of them. */
  get waitingBytes(): number {
    return this.#waiting.total;
  }

  /** Adds a program that has connected; it is refused if there are too many. */
  add(connection: Deno.Conn): void {
    const { log, mostSubscribers, waitingBytes } = this.#options;
    if (this.#all.size >= mostSubscribers) {
      closeQuietly(connection);
      if (this.#refusing) return;
      this.#refusing = true;
      log.warning(`${mostSubscribers} Python programs listen to the event bus: further ones are refused`);
      return;
    }
    const subscriber = new PythonSubscriber(connection, { log, waiting: this.#waiting, fewBytes: waitingBytes / 2 });
    this.#all.add(subscriber);
    void subscriber.gone.then(() => this.#removed(subscriber));
  }

  #removed(subscriber: PythonSubscriber): void {
    this.#all.delete(subscriber);
    if (this.#all.size < this.#options.mostSubscribers / 2) this.#refusing = false;
  }

  /** Gives a packed event to all of them. */
  publish(event: Uint8Array): void {
    if (this.#all.size === 0) return;
    const framed = { bytes: frameEvent(event), holders: 0 };
    const fits = this.#makeRoom(costOf(framed) + PLACE_COST * this.#all.size);
    for (const subscriber of this.#all) {
      // Also an event that is larger than the bound is sent to a program that has read all others.
      if (fits || subscriber.waiting === 0) subscriber.add(framed);
      else subscriber.miss();
    }
  }

  /**
   * Takes events from those that do not read, until there is room.
   * @returns Whether there is.
   */
  #makeRoom(bytes: number): boolean {
    const { log, waitingBytes, stalledMs } = this.#options;
    if (bytes > waitingBytes) return false;
    while (this.#waiting.total + bytes > waitingBytes) {
      const victim = this.#worst();
      if (victim === undefined) return false;
      if (victim.queued > 0) victim.dropNewest(waitingBytes / FREED_PART);
      else {
        log.warning(`A Python program on the event bus has read nothing for ${stalledMs} ms: it is disconnected`);
        victim.close();
        this.#all.delete(victim);
      }
    }
    return true;
  }

  /** Of those from which something can be taken: one that has stalled, and the one for which most waits. */
  #worst(): PythonSubscriber | undefined {
    const now = performance.now();
    let worst: PythonSubscriber | undefined;
    let worstStalled = false;
    for (const one of this.#all) {
      const stalled = one.waiting > 0 && now - one.readAt >= this.#options.stalledMs;
      if (one.queued === 0 && !stalled) continue;
      const worse = stalled === worstStalled ? one.waiting > (worst?.waiting ?? 0) : stalled;
      if (!worse) continue;
      worst = one;
      worstStalled = stalled;
    }
    return worst;
  }

  /** Disconnects all. */
  close(): void {
    for (const subscriber of this.#all) subscriber.close();
  }
}

/** Bytes as they are written, and the number of programs for which they wait. */
interface Framed {
  readonly bytes: Uint8Array;
  holders: number;
}

/** Counts what waits for all programs. */
class WaitingBytes {
  #total = 0;

  get total(): number {
    return this.#total;
  }

  hold(framed: Framed): void {
    this.#total += PLACE_COST + (framed.holders++ === 0 ? costOf(framed) : 0);
  }

  release(framed: Framed): void {
    this.#total -= PLACE_COST + (--framed.holders === 0 ? costOf(framed) : 0);
  }
}

function costOf({ bytes }: Framed): number {
  return bytes.length + EVENT_COST;
}

/** A program that listens, and the events that wait for it. */
class PythonSubscriber {
  readonly #connection: Deno.Conn;
  readonly #log: Logger;
  readonly #all: WaitingBytes;
  readonly #fewBytes: number;
  #queue: Framed[] = [];
  #writing: Framed | undefined;
  #queued = 0;
  #missed = 0;
  #missing = false;
  #readAt = performance.now();
  #closed = false;
  /** Resolves when it has gone. */
  readonly gone: Promise<void>;

  /** @param fewBytes A program that has missed events reads again when no more than this waits for it. */
  constructor(
    connection: Deno.Conn,
    { log, waiting, fewBytes }: { log: Logger; waiting: WaitingBytes; fewBytes: number },
  ) {
    this.#connection = connection;
    this.#log = log;
    this.#all = waiting;
    this.#fewBytes = fewBytes;
    this.gone = this.#watch();
  }

  /** Bytes of the events in its queue: without those that are being written. */
  get queued(): number {
    return this.#queued;
  }

  /** Bytes that wait for it. */
  get waiting(): number {
    return this.#queued + (this.#writing?.bytes.length ?? 0);
  }

  /** When it has last read something, or something began to wait for it: by the clock of `performance`. */
  get readAt(): number {
    return this.#readAt;
  }

  /** Sends an event. */
  add(framed: Framed): void {
    if (this.#closed) return;
    this.#push(framed);
    if (this.#writing === undefined) void this.#write();
  }

  #push(framed: Framed): void {
    this.#all.hold(framed);
    this.#queue.push(framed);
    this.#queued += framed.bytes.length;
  }

  /** Writes what is queued, until nothing is. */
  async #write(): Promise<void> {
    this.#readAt = performance.now();
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        for (let at = 0; at < next.bytes.length;) {
          at += await this.#connection.write(next.bytes.subarray(at));
          this.#readAt = performance.now();
        }
        this.#written();
      }
    } catch {
      // The program, or this bus, has closed the connection.
      this.close();
    }
  }

  /** Takes the events from the queue that are written together; small ones become one piece of bytes. */
  #next(): Framed | undefined {
    let count = 0;
    let size = 0;
    while (count < this.#queue.length && (count === 0 || size + this.#queue[count].bytes.length <= WRITE_BYTES)) {
      size += this.#queue[count++].bytes.length;
    }
    if (count === 0) return undefined;
    const batch = this.#queue.splice(0, count);
    this.#queued -= size;
    if (count === 1) return this.#writing = batch[0];
    const joined = { bytes: joinBytes(batch.map(({ bytes }) => bytes)), holders: 0 };
    this.#all.hold(joined);
    for (const one of batch) this.#all.release(one);
    return this.#writing = joined;
  }

  #written(): void {
    if (this.#writing !== undefined) this.#all.release(this.#writing);
    this.#writing = undefined;
    if (!this.#missing || this.#queued > this.#fewBytes) return;
    this.#missing = false;
    this.#log.warning(`A Python program on the event bus reads again; it has missed ${this.#missed} events so far`);
  }

  /** Drops the newest events of its queue: at least `bytes`, or all. */
  dropNewest(bytes: number): void {
    let kept = this.#queue.length;
    for (let freed = 0; kept > 0 && freed < bytes;) freed += this.#queue[--kept].bytes.length;
    for (const dropped of this.#queue.splice(kept)) {
      this.#queued -= dropped.bytes.length;
      this.#all.release(dropped);
      this.miss();
    }
  }

  /** Notes that it does not get an event. */
  miss(): void {
    if (!this.#missing) this.#log.warning("A Python program on the event bus does not read: it misses events now");
    this.#missing = true;
    this.#missed++;
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

  /** Disconnects it; nothing waits for it any more. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeQuietly(this.#connection);
    for (const framed of this.#queue) this.#all.release(framed);
    if (this.#writing !== undefined) this.#all.release(this.#writing);
    this.#queue = [];
    this.#queued = 0;
    this.#writing = undefined;
  }
}

/** The map that carries a packed event. */
function frameEvent(event: Uint8Array): Uint8Array {
  return encode(new Map<string, Value>([["head", new Map()], ["body", event]]), "disk");
}
