/** Events for a returner that is slow, fails or refuses: what is stored, what waits, what is named as lost. */

import { BusPump } from "#lib/bus/pump.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { UnavailableError, UnstorableError } from "#lib/errors.ts";
import { EventForwarder } from "#lib/master/event_return/event_forwarder.ts";
import type { EventSink } from "#lib/master/event_return/event_sink.ts";
import { type EventPosition, readPosition } from "#lib/returners/event_position.ts";
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

/** A bus with a log, and a returner whose calls `store` answers. */
async function withForwarder(store: EventSink["store"], run: (site: Site) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const paths = masterBus(root), logDirectory = `${root}/log`, directory = `${root}/returners`;
    const eventLog = { directory: logDirectory, keepS: 3600, maxBytes: 1 << 30 };
    const pump = await BusPump.open(paths, { log: SILENT_LOGGER, eventLog });
    const { log, lines: logged } = memoryLog();
    const sink: EventSink = { option: "event_return", name: "own", wants: (tag) => tag.startsWith("own/"), store };
    const parts = { sink, paths, logDirectory, directory, startedMs: 0, queue: 0, queueMs: 0, log };
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
