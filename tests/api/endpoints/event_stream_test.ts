/** One open stream of `/events`: what is sent when its reader lags, its session ends, or events are lost. */

import type { EventListener } from "#lib/api/endpoints/event_feed.ts";
import type { FedEvent } from "#lib/api/endpoints/event_source.ts";
import { eventStream, type StreamReader } from "#lib/api/endpoints/event_stream.ts";
import { isPushed, isUpgraded, type PushedBody } from "#lib/api/http/exchange.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";

const BYE = "event: bye\ndata: {}\n\n", GAP = 'event: gap\ndata: {"missed": null}\n\n', RETRY = "retry: 400\n";

/** A stream, its feed, its reader and its socket. */
class Desk {
  /** What was sent, in pieces. */
  readonly sent: string[] = [];
  ended = 0;
  /** How often the feed was told that nobody listens, and the reader that all is over. */
  stopped = 0;
  closed = 0;
  isAlive = true;
  hasRoom = true;
  tell: () => void = () => {};
  feed: EventListener = () => {};
  #body: PushedBody | undefined;

  /** @param listening Resolves when the feed has subscribed. */
  async open(listening: Promise<void> = Promise.resolve()): Promise<void> {
    const reader: StreamReader = {
      sees: ({ tag }) => tag !== "secret",
      lives: () => this.isAlive,
      onEnd: (tell) => void (this.tell = tell),
      closed: () => void this.closed++,
    };
    const listen = async (listener: EventListener) => {
      this.feed = listener;
      await listening;
      return () => void this.stopped++;
    };
    const { body } = await eventStream({ listen }, reader);
    assert(!isUpgraded(body) && isPushed(body));
    this.#body = body.pushed;
  }

  begin(): void {
    this.#body?.begin({
      write: (piece) => {
        this.sent.push(new TextDecoder().decode(piece));
        return this.hasRoom;
      },
      end: () => void this.ended++,
    });
  }

  drained(): void {
    this.hasRoom = true;
    this.#body?.drained();
  }

  cancel(): void {
    this.#body?.cancel();
  }

  /** What was sent, whether the socket and the stream are over. */
  get state() {
    return [this.sent.join(""), this.ended, this.stopped, this.closed];
  }
}

function eventsOf(...tags: readonly string[]): FedEvent[] {
  return tags.map((tag, n) => ({ tag, data: map({ n }), offset: `f0.${n}` }));
}

function textOf({ tag, data, offset }: FedEvent): string {
  return `id: ${offset}\ntag: ${tag}\ndata: {"tag": "${tag}", "data": {"n": ${data.get("n")}}}\n\n`;
}

Deno.test("a stream sends what its reader sees, and says how many events are lost, or that some may be", async () => {
  const desk = new Desk();
  await desk.open();
  desk.begin();
  const [secret, a] = eventsOf("secret", "a");
  desk.feed({ events: [secret, a], missed: 3 });
  desk.feed({ events: [], missed: Infinity });
  assertEquals(desk.state, [`${RETRY}event: gap\ndata: {"missed": 3}\n\n${textOf(a)}${GAP}`, 0, 0, 0]);
  desk.cancel();
  desk.cancel();
  desk.tell();
  assertEquals(desk.state.slice(1), [0, 1, 1]);
});

Deno.test("a reader that lags is cut off with the word that it has missed some, and gets nothing after it", async () => {
  for (
    const events of [
      Array.from({ length: 10_010 }, (_, n) => eventsOf(`tag/${n}`)[0]),
      Array.from({ length: 20 }, () => ({ tag: "large", data: map({ text: "x".repeat(1 << 20) }) })),
    ]
  ) {
    const desk = new Desk();
    desk.hasRoom = false;
    await desk.open();
    desk.begin();
    desk.feed({ events, missed: 0 });
    assertEquals(desk.state, [`${RETRY}${GAP}`, 1, 1, 1]);
    desk.drained();
    desk.feed({ events: eventsOf("late"), missed: 0 });
    assertEquals(desk.state, [`${RETRY}${GAP}`, 1, 1, 1]);
    // Before anything could be sent.
    const unsent = new Desk();
    await unsent.open();
    unsent.feed({ events, missed: 0 });
    unsent.begin();
    assertEquals(unsent.state, [GAP, 1, 1, 1]);
  }
});

Deno.test("a reader that is slow for a while gets everything in its order", async () => {
  const desk = new Desk();
  await desk.open();
  desk.begin();
  desk.hasRoom = false;
  const events = eventsOf("a", "b", "c");
  desk.feed({ events, missed: 0 });
  assertEquals(desk.sent.length, 2);
  desk.drained();
  assertEquals(desk.sent.join(""), RETRY + events.map(textOf).join(""));
  desk.cancel();
});

Deno.test("no event is sent after the end of the session, and other streams hear bye", async () => {
  const revoked = new Desk(), left = new Desk();
  for (const desk of [revoked, left]) {
    await desk.open();
    desk.begin();
  }
  revoked.isAlive = false;
  revoked.feed({ events: eventsOf("a"), missed: 0 });
  assertEquals(revoked.state, [RETRY, 1, 1, 1]);
  left.tell();
  left.tell();
  assertEquals(left.state, [RETRY + BYE, 1, 1, 1]);
});

Deno.test("a stream that is over before it begins says so, and listens no more", async () => {
  // Between the answer and its sending.
  const late = new Desk();
  await late.open();
  late.tell();
  assertEquals(late.state, ["", 0, 1, 1]);
  late.begin();
  assertEquals(late.state, [BYE, 1, 1, 1]);
  // While the feed subscribes.
  const early = new Desk(), listening = Promise.withResolvers<void>();
  const opened = early.open(listening.promise);
  early.tell();
  listening.resolve();
  await opened;
  assertEquals(early.state, ["", 0, 1, 1]);
  early.begin();
  assertEquals(early.state, [BYE, 1, 1, 1]);
});

Deno.test("a stream without events shows every 15 seconds that it lives, and a revoked session is noticed", async () => {
  using time = new SkippedTime();
  const desk = new Desk();
  await desk.open();
  desk.begin();
  await time.to(12_000);
  assertEquals(desk.sent.join(""), RETRY);
  await time.to(17_000);
  assertEquals(desk.sent.join(""), `${RETRY}: keep-alive\n\n`);
  desk.isAlive = false;
  await time.to(20_000);
  assertEquals(desk.state, [`${RETRY}: keep-alive\n\n`, 1, 1, 1]);
});
