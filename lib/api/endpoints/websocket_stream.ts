/**
 * `/ws`: the master's events over a WebSocket. They come when the client has said that it is ready; each of its
 * messages is answered.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (WebsocketEndpoint), `tools/websockets.py`.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { messageOf } from "#lib/errors.ts";
import { clearInterval, setInterval } from "#lib/os/timers.ts";
import type { EventFeed } from "./event_feed.ts";
import type { FedEvents } from "./event_source.ts";
import { gapText, type StreamReader } from "./event_stream.ts";

/** What a client sends to have events. */
const READY = "websocket client ready";
/** What it gets for each of its messages. */
const RECEIVED = "server received message";
/** A reader that lags by so many bytes is cut off. */
const MAX_LAG_BYTES = 16 << 20;
/** Time between two looks whether the reader's session still lives, in milliseconds. */
const LOOK_MS = 1_000;
/** Status codes of RFC 6455: the server ends; the reader may not, or cannot, have more; try again later. */
const GOING_AWAY = 1001, REFUSED = 1008, TRY_AGAIN = 1013;

/** Bytes that the reason of an end may have. */
const MAX_REASON_BYTES = 123;

/** What a stream over a WebSocket is made of. */
export interface WebSocketParts {
  readonly feed: Pick<EventFeed, "listen">;
  readonly reader: Omit<StreamReader, "since">;
  /** The text for an event; `undefined`: none. */
  textOf(event: BusEvent): string | undefined;
}

/** Serves an accepted socket until one side ends it. */
export function serveWebSocket(socket: WebSocket, { feed, reader, textOf }: WebSocketParts): void {
  const undo: (() => void)[] = [reader.closed];
  let isOver = false, isReady = false;
  const end = (code: number, reason: string) => {
    if (socket.readyState <= WebSocket.OPEN) socket.close(code, reason);
    release();
  };
  const release = () => {
    if (isOver) return;
    isOver = true;
    for (const step of undo) step();
  };
  /** Whether the reader may still have something; ends a session that has ended. */
  const maySend = () => {
    if (isOver || socket.readyState !== WebSocket.OPEN) return false;
    if (reader.lives()) return true;
    end(REFUSED, "the session has ended");
    return false;
  };
  const take = ({ events, missed }: FedEvents) => {
    if (missed > 0 && maySend()) socket.send(gapText(missed));
    for (const event of events) {
      if (!maySend()) return;
      const text = reader.sees(event) ? textOf(event) : undefined;
      if (text !== undefined) socket.send(text);
      if (socket.bufferedAmount > MAX_LAG_BYTES) return end(REFUSED, "the reader is too slow");
    }
  };
  const listen = async () => {
    try {
      const stop = await feed.listen(take);
      if (isOver) stop();
      else undo.push(stop);
    } catch (error) {
      end(TRY_AGAIN, reasonOf(error));
    }
  };
  const look = setInterval(() => {
    if (!reader.lives()) end(REFUSED, "the session has ended");
  }, LOOK_MS);
  undo.push(() => clearInterval(look));
  reader.onEnd(() => end(GOING_AWAY, "the session or the API has ended"));
  socket.addEventListener("message", ({ data }) => {
    socket.send(RECEIVED);
    if (data === READY && !isReady) {
      isReady = true;
      void listen();
    }
  });
  socket.addEventListener("close", release);
  socket.addEventListener("error", release);
}

/** The beginning of an error's text, as long as the runtime takes it: closing a socket with more throws. */
function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(MAX_REASON_BYTES)).read);
}
