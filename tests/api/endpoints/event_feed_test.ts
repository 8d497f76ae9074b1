/** The events of a real bus for the API's streams: with a log and without one, and after the bus has begun anew. */

import { EventFeed } from "#lib/api/endpoints/event_feed.ts";
import type { EventPlace } from "#lib/api/endpoints/event_source.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const WITHIN_MS = 30_000;
const GAP = "gap Infinity";

/** A bus that may begin anew, and a feed of its events. */
class Desk implements AsyncDisposable {
  readonly place: EventPlace;
  readonly feed: EventFeed;
  readonly lines: string[];
  #pump: BusPump | undefined;

  constructor(root: string, event_log: EventPlace["event_log"]) {
    this.place = { event_log, sock_dir: root, cachedir: `${root}/cache` };
    const { log, lines } = memoryLog();
    this.lines = lines;
    this.feed = new EventFeed(this.place, log);
  }

  async start(): Promise<void> {
    const { sock_dir, cachedir, event_log } = this.place;
    const eventLog = { directory: eventLogDirectory(cachedir), keepS: 3600, maxBytes: 1 << 30 };
    this.#pump = await BusPump.open(masterBus(sock_dir), {
      log: SILENT_LOGGER,
      ...event_log !== "none" && { eventLog },
    });
  }

  async stop(): Promise<void> {
    await this.#pump?.close();
  }

  /** Fires an event until it has come: at a bus that has just begun, nobody may listen yet. */
  async fire(tag: string, seen: readonly string[]): Promise<void> {
    using sender = new EventSender(masterBus(this.place.sock_dir).pull);
    await eventually(async () => {
      await sender.fire(tag, map({}));
      return seen.includes(tag);
    }, { what: tag, withinMs: WITHIN_MS });
  }

  /** Listens; the tags that come, and `gap` where some are lost, each once in a row. */
  async listen(since?: string): Promise<{ readonly seen: string[]; readonly offsets: string[]; stop(): void }> {
    const seen: string[] = [], offsets: string[] = [];
    const stop = await this.feed.listen(({ events, missed }) => {
      const words = [...missed > 0 ? [`gap ${missed}`] : [], ...events.map(({ tag }) => tag)];
      for (const word of words) if (seen.at(-1) !== word) seen.push(word);
      offsets.push(...events.flatMap(({ offset }) => offset ?? []));
    }, since);
    return { seen, offsets, stop };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.feed.close();
    await this.stop();
  }
}

Deno.test("without an event log all streams share the bus, and hear when it has begun anew", () =>
  withTemporaryDirectory(async (root) => {
    await using desk = new Desk(root, "none");
    await desk.start();
    const [first, second] = [await desk.listen(), await desk.listen()];
    await desk.fire("a", first.seen);
    second.stop();
    await desk.stop();
    await desk.start();
    await desk.fire("b", first.seen);
    assertEquals([first.seen, second.seen, first.offsets], [["a", GAP, "b"], ["a"], []]);
    // The last one ends the subscription; who comes then has a new one.
    first.stop();
    const third = await desk.listen();
    await desk.fire("c", third.seen);
    assertEquals([first.seen.length, third.seen.at(-1)], [3, "c"]);
  }));

Deno.test("a bus that begins anew with its log loses nothing, and one whose log is gone says so", () =>
  withTemporaryDirectory(async (root) => {
    await using desk = new Desk(root, "file");
    await desk.start();
    const shared = await desk.listen();
    await desk.fire("a", shared.seen);
    await desk.stop();
    await desk.start();
    await desk.fire("b", shared.seen);
    const since = await desk.listen(shared.offsets[0]);
    await eventually(() => since.seen.includes("b"), { what: "what came since", withinMs: WITHIN_MS });
    assertEquals(shared.seen, ["a", "b"]);

    await desk.stop();
    Deno.removeSync(eventLogDirectory(desk.place.cachedir), { recursive: true });
    await desk.start();
    for (const { seen } of [shared, since]) {
      await eventually(() => seen.includes(GAP), { what: GAP, withinMs: WITHIN_MS });
    }
    await desk.fire("c", shared.seen);
    assertEquals(shared.seen, ["a", "b", GAP, "c"]);
    assert(
      desk.lines.some((line) => /^ERROR The master's events: The offset .* is gone/.test(line)),
      desk.lines.join("\n"),
    );
    assert(shared.offsets.at(-1)?.split(".")[0] !== shared.offsets[0].split(".")[0]);
  }));
