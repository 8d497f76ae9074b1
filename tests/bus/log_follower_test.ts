/** @module */
import { BusPump } from "#lib/bus/pump.ts";
import { packEvent, unpackMatching } from "#lib/bus/event.ts";
import { seekAfter } from "#lib/bus/followed_log.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { LogFollower } from "#lib/bus/log_follower.ts";
import { logSocket, masterBus } from "#lib/bus/paths.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { NoMasterError } from "#lib/errors.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { strictTest } from "#tests/support/strict.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Number of events, and how often their reader is cut. EVENTS=100000 makes it the full size. */
const EVENTS = Number(Deno.env.get("EVENTS") ?? 20_000), CUTS = 100;
const LIMITS = { keepS: 3600, maxBytes: 1 << 30 };

function numbersOf(frames: readonly { readonly frame: Uint8Array }[]): Value[] {
  return frames.map(({ frame }) => unpackMatching(frame, () => true)?.data.get("n") ?? null);
}

strictTest(
  `a client that is cut ${CUTS} times while ${EVENTS} events pass has each once, in their order`,
  () =>
    withTemporaryDirectory(async (dir) => {
      const paths = masterBus(dir), directory = `${dir}/log`;
      const pump = await BusPump.open(paths, { log: SILENT_LOGGER, eventLog: { directory, ...LIMITS } });
      using sender = new EventSender(paths.pull);
      const sending = (async () => {
        for (let n = 0; n < EVENTS; n++) await sender.fire(`tag/${n % 7}`, map({ n, text: "x".repeat(n % 300) }));
      })();
      let next = 0, cuts = 0;
      while (next < EVENTS) {
        using follower = await LogFollower.open({ paths, directory }, (reader) => reader.seek(next));
        const upTo = Math.min(EVENTS, next + EVENTS / CUTS);
        // It is cut in the middle of what it was given: it knows how far it has come.
        while (next < upTo) {
          const batch = await follower.read(60_000);
          assert(batch !== undefined);
          assertEquals(batch.missed, 0);
          const taken = batch.events.slice(0, upTo - next);
          assertEquals(numbersOf(taken), taken.map((_, i) => next + i));
          next += taken.length;
        }
        cuts++;
      }
      assert(cuts >= CUTS);
      await sending;
      await pump.close();
    }),
);

strictTest(
  "a follower reads on when the bus is restarted, and gets what the log cannot take",
  () =>
    withTemporaryDirectory(async (dir) => {
      const paths = masterBus(dir), directory = `${dir}/log`;
      const { log, lines } = memoryLog();
      const options = { log, eventLog: { directory, ...LIMITS } };
      const first = await BusPump.open(paths, options);
      using follower = await LogFollower.open({ paths, directory }, (reader) => reader.seekEnd());
      // A sender of its own for each bus: an event in a connection that is just closed is lost.
      const fire = async (...numbers: number[]) => {
        using sender = new EventSender(paths.pull);
        for (const n of numbers) await sender.fire("a", map({ n }));
      };
      const read = async (count: number) => {
        const found: Value[] = [];
        while (found.length < count) {
          const batch = await follower.read(60_000);
          assert(batch !== undefined, `no more after ${found.length} of ${count} events`);
          found.push(...numbersOf(batch.events));
        }
        return found;
      };
      await fire(0);
      assertEquals(await read(1), [0]);
      await first.close();
      const second = await BusPump.open(paths, options);
      await fire(1, 2, 3);
      assertEquals(await read(3), [1, 2, 3]);
      await second.close();
      const third = await BusPump.open(paths, options);
      // One that has read further already, in the log of a bus that was lost since, gets nothing twice.
      using ahead = await LogFollower.open({ paths, directory }, (reader) => reader.seek(1_000_000));
      // Nothing can be written below a path that is a file.
      Deno.removeSync(directory, { recursive: true });
      Deno.writeTextFileSync(directory, "");
      // It gets what is published after it has connected to the new bus.
      let unwritten: Value[] = [];
      for (let n = 4; unwritten.length === 0; n++) {
        assert(n < 1_000);
        await fire(n);
        unwritten = numbersOf((await follower.read(50))?.events ?? []);
      }
      assertEquals([await ahead.read(50), ahead.next], [undefined, 1_000_000]);
      assertEquals(lines.filter((line) => line.startsWith("ERROR")).length, 1, lines.join("\n"));
      await third.close();
    }),
);

strictTest("a follower of a bus that is not running says so", () =>
  withTemporaryDirectory(async (dir) => {
    const where = { paths: masterBus(dir), directory: `${dir}/log` };
    await assertRejects(() => LogFollower.open(where, (reader) => reader.seekEnd()), NoMasterError, "Nothing answers");
  }));

strictTest(
  "a bus whose log cannot be opened says so, and gives events to who listens",
  () =>
    withTemporaryDirectory(async (dir) => {
      const paths = masterBus(dir), directory = `${dir}/file/log`, { log, lines } = memoryLog();
      Deno.writeTextFileSync(`${dir}/file`, "");
      const pump = await BusPump.open(paths, { log, eventLog: { directory, ...LIMITS } });
      {
        using events = await EventSubscriber.connect(paths.pub, ["a"]);
        using sender = new EventSender(paths.pull);
        await sender.fire("a", map({ n: 1 }));
        assertEquals((await events.next(WITHIN_MS))?.data.get("n"), 1);
      }
      assertEquals(lines.length, 1, lines.join("\n"));
      assertStringIncludes(lines[0], `ERROR Events are not kept: the event log in ${directory} cannot be opened: `);
      assertEquals(lexistsOrThrow(logSocket(paths)), false);
      await pump.close();
    }),
);

Deno.test("a reader goes on after the last event that it got, or where its time is if that is not there", () =>
  withTemporaryDirectory((directory) => {
    const writer = new EventLogWriter(directory, LIMITS, { log: SILENT_LOGGER, onWritten: () => {} });
    const frames = [0, 1, 2].map((n) => packEvent("a", map({ n })));
    for (const frame of frames) writer.append(frame);
    writer.close();
    const read = (frame: Uint8Array | undefined, ms = 0) => {
      using reader = new EventLogReader(directory);
      seekAfter(reader, frame, ms);
      return numbersOf(reader.read().events);
    };
    assertEquals(read(frames[0]), [1, 2]);
    assertEquals(read(frames[2]), []);
    assertEquals([read(undefined), read(undefined, Date.now() + 60_000)], [[0, 1, 2], []]);
    const other = packEvent("a", map({ n: 3 }));
    assertEquals([read(other), read(other, Date.now() + 60_000)], [[0, 1, 2], []]);
  }));
