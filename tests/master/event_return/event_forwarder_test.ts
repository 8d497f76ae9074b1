/** Events for a returner that is slow, fails or refuses: what is stored, what waits, what is named as lost. */

import { packEvent } from "#lib/bus/event.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { UnavailableError, UnstorableError } from "#lib/errors.ts";
import { listSegments, readLogId, segmentPath } from "#lib/event_log/segment.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { EventForwarder } from "#lib/master/event_return/event_forwarder.ts";
import type { EventSink } from "#lib/master/event_return/event_sink.ts";
import { type EventPosition, readPosition, writePosition } from "#lib/returners/event_position.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Site {
  readonly logged: string[];
  readonly directory: string;
  readonly forwarder: EventForwarder;
  fire(...tags: string[]): Promise<void>;
  position(): EventPosition | undefined;
}

/**
 * A bus with a log, and a returner whose calls `store` answers.
 * @param how.before Called with the directories of the log and of positions before the bus begins.
 */
async function withForwarder(
  store: EventSink["store"],
  run: (site: Site) => Promise<void>,
  { queue = 0, before }: { readonly queue?: number; readonly before?: (log: string, positions: string) => void } = {},
): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const paths = masterBus(root), logDirectory = `${root}/log`, directory = `${root}/returners`;
    before?.(logDirectory, directory);
    const eventLog = { directory: logDirectory, keepS: 3600, maxBytes: 1 << 30 };
    const pump = await BusPump.open(paths, { log: SILENT_LOGGER, eventLog });
    const { log, lines: logged } = memoryLog();
    const sink: EventSink = { option: "event_return", name: "own", wants: (tag) => tag.startsWith("own/"), store };
    const parts = { sink, paths, logDirectory, directory, startedMs: 0, queue, queueMs: 0, log };
    const forwarder = new EventForwarder(parts);
    try {
      await forwarder.start();
      using sender = new EventSender(paths.pull);
      await run({
        logged,
        directory,
        forwarder,
        fire: async (...tags) => {
          for (const tag of tags) assert(await sender.fire(tag, map({})));
        },
        position: () => readPosition(directory, "event_return", "own"),
      });
    } finally {
      await forwarder.close();
      await pump.close();
    }
  });
}

Deno.test("a call that ends after its time counts no event: those that wait by then are given, none is passed over", async () => {
  const stored: string[] = [];
  const slow = Promise.withResolvers<void>();
  let calls = 0;
  await withForwarder(async (events, count) => {
    const call = ++calls;
    if (call === 1) await slow.promise;
    if (call === 3) {
      // While another event is the first one that waits.
      slow.resolve();
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new Error("not now");
    }
    stored.push(...events.map(({ tag }) => tag));
    count(events.length);
  }, async ({ fire, logged, position, forwarder }) => {
    using time = new SkippedTime();
    await fire("own/1");
    await eventually(() => calls === 1, { what: "the first call" });
    await time.to(121_000);
    const [first] = await eventually(() => logged.length > 0 && logged, { what: "the word that it is late" });
    assertStringIncludes(first, "returner 'own' raised exception: it took more than 120 s");
    await time.to(125_000);
    await eventually(() => position()?.stored === 1, { what: "the first event" });
    await fire("own/2", "other/1");
    await eventually(() => position()?.error === "not now", { what: "the third call" });
    await time.to(140_000);
    await eventually(() => position()?.stored === 2, { what: "the second event" });
    assertEquals(stored, ["own/1", "own/1", "own/2"]);
    assertEquals(forwarder.describe(), "event_return own: 2 events stored, 0 waiting");
    assertEquals(position()?.error, "");
  });
});

Deno.test("events that can never be stored are named, those of a server that is away wait; a returner that is none is named once", async () => {
  const stored: string[] = [];
  let away = true, missing = false;
  await withForwarder((events, count) => {
    if (missing) return Promise.reject(new UnavailableError("own.event_return"));
    if (events.some(({ tag }) => tag === "own/bad")) return Promise.reject(new UnstorableError("no table has it"));
    if (away) return Promise.reject(new Error("no server"));
    stored.push(...events.map(({ tag }) => tag));
    return Promise.resolve(count(events.length));
  }, async ({ fire, logged, position }) => {
    using time = new SkippedTime();
    await fire("own/bad", "own/1", "own/2", "own/3");
    await eventually(() => position()?.dropped === 1, { what: "the event that cannot be stored" });
    assertStringIncludes(logged.join("\n"), "with the tag own/bad cannot be stored: no table has it");
    assertEquals(stored, []);
    away = false;
    await time.to(20_000);
    await eventually(() => position()?.stored === 3, { what: "the others" });
    assertEquals(stored, ["own/1", "own/2", "own/3"]);
    assertStringIncludes(logged.at(-1) ?? "", "event_return own takes events again");
    missing = true;
    await fire("own/4");
    await eventually(() => position()?.error !== "", { what: "the failure" });
    await time.to(60_000);
    const named = logged.filter((line) => line.includes("there is no returner own that can store this"));
    assertEquals(named.length, 1);
  });
});

Deno.test("a position that cannot be written is named, and holds up no event", async () => {
  const stored: string[] = [];
  await withForwarder((events, count) => {
    stored.push(...events.map(({ tag }) => tag));
    return Promise.resolve(count(events.length));
  }, async ({ fire, logged, directory }) => {
    await Deno.remove(directory, { recursive: true });
    await fire("own/1");
    await eventually(() => logged.some((line) => line.includes("The position of event_return own cannot be written")), {
      what: "the word",
    });
    await fire("own/2");
    await eventually(() => stored.length === 2, { what: "both events" });
    Deno.mkdirSync(directory);
  });
});

Deno.test("while a server is away no more events are read than one call takes; the others come from the log later", async () => {
  const stored: string[] = [], calls: number[] = [];
  let away = true;
  await withForwarder((events, count) => {
    calls.push(events.length);
    if (away) return Promise.reject(new Error("no server"));
    stored.push(...events.map(({ tag }) => tag));
    return Promise.resolve(count(events.length));
  }, async ({ fire, forwarder, position }) => {
    using time = new SkippedTime();
    const tags = Array.from({ length: 130 }, (_, n) => `own/${n}`);
    await fire("own/first");
    await eventually(() => calls.length === 1, { what: "the first call" });
    await fire(...tags);
    await eventually(() => forwarder.describe() === "event_return own: 0 events stored, 100 waiting", {
      what: "a full call",
    });
    assertEquals(calls, [1]);
    away = false;
    await time.to(2_000);
    await eventually(() => position()?.stored === 131, { what: "all events" });
    assertEquals(stored, ["own/first", ...tags]);
    assertEquals(calls[1], 100);
  });
});

Deno.test("events that wait for others are given when the master ends", async () => {
  const stored: string[][] = [];
  await withForwarder((events, count) => {
    stored.push(events.map(({ tag }) => tag));
    return Promise.resolve(count(events.length));
  }, async ({ fire, forwarder, position }) => {
    await fire("own/1", "own/2");
    await eventually(() => forwarder.describe().endsWith("2 waiting"), { what: "both events" });
    assertEquals(stored, []);
    await forwarder.close();
    assertEquals([stored, position()?.stored], [[["own/1", "own/2"]], 2]);
  }, { queue: 10 });
});

Deno.test("a master that ends amid events that are tried one by one tries no further one, and passes over none", async () => {
  const tried: string[] = [];
  let end = () => {};
  await withForwarder((events) => {
    if (events.length > 1) return Promise.reject(new UnstorableError("not these"));
    tried.push(events[0].tag);
    end();
    return Promise.resolve();
  }, async ({ fire, forwarder, position }) => {
    const ended = new Promise<void>((resolve) => end = () => resolve(forwarder.close()));
    await fire("own/1", "own/2", "own/3");
    await ended;
    assertEquals(tried, ["own/1"]);
    assertEquals([position()?.stored, position()?.dropped], [0, 0]);
  }, { queue: 3 });
});

Deno.test("events that are not in the log any more are counted as lost, and named", async () => {
  const stored: string[] = [];
  await withForwarder((events, count) => {
    stored.push(...events.map(({ tag }) => tag));
    return Promise.resolve(count(events.length));
  }, async ({ logged, position }) => {
    await eventually(() => position()?.stored === 6, { what: "the event that is left" });
    assertEquals(stored, ["own/3"]);
    assertEquals(logged, [
      "ERROR event_return own: 2 events are lost: they were not in the event log any more",
    ]);
    assertEquals(position()?.dropped, 2);
  }, {
    before(directory, positions) {
      const limits = { keepS: 3600, maxBytes: 1 << 30 };
      const writer = new EventLogWriter(directory, limits, {
        log: SILENT_LOGGER,
        onWritten: () => {},
        segmentBytes: 1,
      });
      for (let n = 0; n < 4; n++) {
        writer.append(packEvent(`own/${n}`, map({})));
        writer.flush();
      }
      writer.close();
      for (const { first } of listSegments(directory).filter((each) => each.first < 3)) {
        Deno.removeSync(segmentPath(directory, first));
      }
      Deno.mkdirSync(positions, { recursive: true });
      const log = readLogId(directory) ?? "";
      writePosition(positions, "event_return", "own", { log, number: 0, stored: 5, dropped: 0, error: "" });
    },
  });
});
