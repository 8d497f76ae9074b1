/**
 * `/events`: the master's events as server-sent events, in the form of Salt's: a line `tag:` before each `data:`. The
 * line `id:` before both is ours: the offset of the event, from which a client goes on that was cut off.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (Events); answers of a live salt-api.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { type BodySink, HttpAnswer, type PushedBody } from "#lib/api/http/exchange.ts";
import { CommandError } from "#lib/errors.ts";
import { clearInterval, setInterval } from "#lib/os/timers.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map } from "#lib/values/value.ts";
import type { EventFeed } from "./event_feed.ts";
import type { FedEvent, FedEvents } from "./event_source.ts";
import { oncePerEvent } from "./once_per_event.ts";

/** Silence after which a comment shows that the stream lives, in milliseconds. */
const KEEP_ALIVE_MS = 15_000;
/** Time between two looks whether the reader's session still lives, in milliseconds. */
const LOOK_MS = 1_000;
/** A reader that lags by so many pieces or bytes is cut off. */
const MAX_LAG_PIECES = 10_000;
const MAX_LAG_BYTES = 16 << 20;

type ListenedFeed = Pick<EventFeed, "listen">;

/** Who reads a stream. */
export interface StreamReader {
  /** Whether this event is for the reader. */
  sees(event: BusEvent): boolean;
  /** Whether the reader's token still lives; asked before each event. */
  lives(): boolean;
  /** Calls `tell` when the session ends, or the API; not after {@linkcode StreamReader.closed}. */
  onEnd(tell: () => void): void;
  /** The offset after which the stream begins (`Last-Event-ID`). Default: now. */
  readonly since?: string;
  /** Called when the stream is over. */
  closed(): void;
}

const encoder = new TextEncoder();

/** What is sent for one event. */
const eventPiece = oncePerEvent(({ tag, data, offset }: FedEvent) => {
  const id = offset === undefined ? "" : `id: ${offset}\n`;
  // A tag has no line ends: the bus splits at them.
  return encoder.encode(`${id}tag: ${tag}\ndata: ${dumpJson(map({ tag, data }))}\n\n`);
});

/**
 * Events that the reader cannot have.
 * @param given Their number; `null` or `Infinity`: it is not known.
 */
export function gapText(given: number | null): string {
  const missed = Number.isFinite(given) ? given : null;
  return `event: gap\ndata: ${dumpJson(map({ missed }))}\n\n`;
}

/** One open stream: a bounded queue between the feed and a socket. */
class EventStream implements PushedBody {
  readonly #reader: StreamReader;
  #sink: BodySink | undefined;
  #hasRoom = true;
  #isOver = false;
  #waiting: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;
  #putMs = performance.now();
  readonly #undo: (() => void)[] = [];

  constructor(reader: StreamReader) {
    this.#reader = reader;
  }

  begin(sink: BodySink): void {
    // It may have ended meanwhile: what it has to say waits.
    this.#sink = sink;
    this.#flush();
    if (this.#isOver) sink.end();
  }

  drained(): void {
    this.#hasRoom = true;
    this.#flush();
  }

  cancel(): void {
    this.#sink = undefined;
    this.#release();
  }

  /** @throws {NoMasterError} If no master is running. */
  async open(feed: ListenedFeed): Promise<void> {
    this.#reader.onEnd(() => this.#end("event: bye\ndata: {}\n\n"));
    const stop = await this.#listen(feed);
    // It may have ended meanwhile.
    if (this.#isOver) return stop();
    const timer = setInterval(() => this.#look(), LOOK_MS);
    this.#undo.push(stop, () => clearInterval(timer));
  }

  async #listen(feed: ListenedFeed): Promise<() => void> {
    const take = (batch: FedEvents) => this.#take(batch);
    try {
      return await feed.listen(take, this.#reader.since);
    } catch (error) {
      // The offset is none, or its log is gone.
      if (!(error instanceof CommandError)) throw error;
      this.put(gapText(null));
      return await feed.listen(take);
    }
  }

  put(text: string): void {
    this.#send(encoder.encode(text));
  }

  #send(piece: Uint8Array<ArrayBuffer>): void {
    this.#waiting.push(piece);
    this.#bytes += piece.length;
    this.#putMs = performance.now();
    if (this.#waiting.length > MAX_LAG_PIECES || this.#bytes > MAX_LAG_BYTES) this.#end(gapText(null));
    else this.#flush();
  }

  #take({ events, missed }: FedEvents): void {
    if (missed > 0) this.put(gapText(missed));
    for (const event of events) {
      if (this.#isOver) return;
      if (!this.#reader.lives()) return this.#end("");
      if (this.#reader.sees(event)) this.#send(eventPiece(event));
    }
  }

  #look(): void {
    if (!this.#reader.lives()) this.#end("");
    else if (performance.now() - this.#putMs >= KEEP_ALIVE_MS) this.put(": keep-alive\n\n");
  }

  #flush(): void {
    while (this.#sink !== undefined && this.#hasRoom) {
      const piece = this.#waiting.shift();
      if (piece === undefined) return;
      this.#bytes -= piece.length;
      this.#hasRoom = this.#sink.write(piece);
    }
  }

  /** Ends the stream; what waits is dropped, as its reader is too slow or may not have it. */
  #end(text: string): void {
    if (this.#isOver) return;
    this.#release();
    if (text !== "") this.#waiting.push(encoder.encode(text));
    const sink = this.#sink;
    if (sink === undefined) return;
    for (const piece of this.#waiting) sink.write(piece);
    sink.end();
    this.#sink = undefined;
  }

  #release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    for (const step of this.#undo) step();
    this.#reader.closed();
  }
}

/**
 * The answer: an open stream. Subscribed before it is given back, so that no event after the headers is missed.
 * @throws {NoMasterError} If no master is running.
 */
export async function eventStream(feed: ListenedFeed, reader: StreamReader): Promise<HttpAnswer> {
  const stream = new EventStream(reader);
  // Clients read the first line, so no blank line follows it.
  stream.put("retry: 400\n");
  await stream.open(feed);
  return new HttpAnswer({ pushed: stream }, {
    headers: {
      "Content-Type": "text/event-stream;charset=utf-8",
      "Cache-Control": "no-cache, private",
      "X-Content-Type-Options": "nosniff",
      "X-Accel-Buffering": "no",
    },
  });
}
