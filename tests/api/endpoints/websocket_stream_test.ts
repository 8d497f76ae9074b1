/** One WebSocket of `/ws` at a server of this process: when it ends, and what its client is told. */

import type { EventListener } from "#lib/api/endpoints/event_feed.ts";
import { serveWebSocket } from "#lib/api/endpoints/websocket_stream.ts";
import { HttpAnswer, type HttpServer } from "#lib/api/http/exchange.ts";
import { loadPlainServer } from "#lib/api/http/plain_server.ts";
import { NoMasterError } from "#lib/errors.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";

const WITHIN_MS = 20_000;

/** A client that has opened a socket and said that it is ready. */
class Desk implements AsyncDisposable {
  readonly received: string[] = [];
  isAlive = true;
  /** How often the reader was told that all is over, and the feed that nobody listens. */
  closed = 0;
  stopped = 0;
  feed: EventListener | undefined;
  /** The end of the session, or of the API. */
  tell: () => void = () => {};
  end: CloseEvent | undefined;
  socket: WebSocket | undefined;
  #server: HttpServer | undefined;

  /** @param subscribe What the feed does before it listens. */
  static async open(subscribe: () => Promise<void> = () => Promise.resolve()): Promise<Desk> {
    const desk = new Desk();
    const reader = {
      sees: () => true,
      lives: () => desk.isAlive,
      onEnd: (tell: () => void) => void (desk.tell = tell),
      closed: () => void desk.closed++,
    };
    const listen = async (listener: EventListener) => {
      desk.feed = listener;
      await subscribe();
      return () => void desk.stopped++;
    };
    desk.#server = await (await loadPlainServer())({
      hostname: "127.0.0.1",
      port: 0,
      handle(_, connection) {
        const { socket, answer } = connection.upgrade();
        serveWebSocket(socket, { feed: { listen }, reader, textOf: ({ tag }) => tag });
        return Promise.resolve(answer);
      },
      failed: () => new HttpAnswer(null, { status: 500 }),
    });
    const socket = desk.socket = new WebSocket(`ws://127.0.0.1:${desk.#server.addr.port}/`);
    socket.onmessage = ({ data }) => void desk.received.push(String(data));
    socket.onclose = (event) => desk.end = event;
    socket.onopen = () => socket.send("websocket client ready");
    await eventually(() => desk.feed !== undefined, { what: "the subscription", withinMs: WITHIN_MS });
    return desk;
  }

  tags(...tags: readonly string[]): void {
    this.feed?.({ events: tags.map((tag) => ({ tag, data: map({}) })), missed: 0 });
  }

  /** How the client sees the end: its code and its reason. */
  async ended(): Promise<unknown[]> {
    await eventually(() => this.end !== undefined, { what: "the end of the socket", withinMs: WITHIN_MS });
    return [this.end?.code, this.end?.reason];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket?.close();
    await this.ended();
    await this.#server?.shutdown();
  }
}

Deno.test("a socket ends with its session, at the next event or within a second, and sends nothing after it", async () => {
  const refused = [1008, "the session has ended"];
  await using byEvent = await Desk.open();
  byEvent.tags("a");
  byEvent.isAlive = false;
  byEvent.tags("b", "c");
  byEvent.tags("d");
  assertEquals(await byEvent.ended(), refused);
  assertEquals([byEvent.received, byEvent.closed, byEvent.stopped], [["server received message", "a"], 1, 1]);

  using time = new SkippedTime();
  await using byTime = await Desk.open();
  byTime.isAlive = false;
  await time.to(3_000);
  assertEquals(await byTime.ended(), refused);

  await using byWord = await Desk.open();
  byWord.tell();
  // What the client sends before it hears of it is not answered.
  byWord.socket?.send("are you there?");
  assertEquals(await byWord.ended(), [1001, "the session or the API has ended"]);
  assertEquals([byWord.received, byWord.closed], [["server received message"], 1]);
});

Deno.test("a client is told of events that it cannot have, unless its session has ended", async () => {
  await using desk = await Desk.open();
  desk.tags("a");
  desk.feed?.({ events: [{ tag: "b", data: map({}) }], missed: 7 });
  desk.feed?.({ events: [], missed: Infinity });
  const gap = (missed: string) => `event: gap\ndata: {"missed": ${missed}}\n\n`;
  await eventually(() => desk.received.length === 5, { what: "five messages", withinMs: WITHIN_MS });
  assertEquals(desk.received, ["server received message", "a", gap("7"), "b", gap("null")]);
  desk.isAlive = false;
  desk.feed?.({ events: [], missed: 1 });
  assertEquals(await desk.ended(), [1008, "the session has ended"]);
  desk.feed?.({ events: [], missed: 1 });
  assertEquals(desk.received.length, 5);
});

Deno.test("a reader that lags by more than 16 MiB is cut off", async () => {
  await using desk = await Desk.open();
  const large = "x".repeat(1 << 20);
  desk.tags(...Array.from({ length: 30 }, () => large));
  assertEquals(await desk.ended(), [1008, "the reader is too slow"]);
  assertEquals(desk.received.filter((text) => text === large).length, 17);
});

Deno.test("a client that goes while the feed subscribes leaves no listener behind", async () => {
  const listening = Promise.withResolvers<void>();
  await using desk = await Desk.open(() => listening.promise);
  desk.socket?.close();
  await eventually(() => desk.closed === 1, { what: "the end at the server", withinMs: WITHIN_MS });
  desk.tags("late");
  assertEquals(desk.stopped, 0);
  listening.resolve();
  await eventually(() => desk.stopped === 1, { what: "the end of the subscription", withinMs: WITHIN_MS });
});

Deno.test("a client hears why there are no events, and a long reason in a foreign script ends no server", async () => {
  const open = (reason: string) => Desk.open(() => Promise.reject(new NoMasterError(reason)));
  await using without = await open("Salt Master is not available.");
  assertEquals(await without.ended(), [1013, "Salt Master is not available."]);
  await using long = await open(`no bus at /${"шина".repeat(30)}`);
  assertEquals(await long.ended(), [1013, `no bus at /${"шина".repeat(14)}`]);
});
