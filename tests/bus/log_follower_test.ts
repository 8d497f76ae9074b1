/** @module */
import { BusPump } from "#lib/bus/pump.ts";
import { unpackMatching } from "#lib/bus/event.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { LogFollower } from "#lib/bus/log_follower.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { NoMasterError } from "#lib/errors.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
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
      assertEquals(lines.filter((line) => line.startsWith("ERROR")).length, 1, lines.join("\n"));
      await third.close();
    }),
);

strictTest("a follower of a bus that is not running says so", () =>
  withTemporaryDirectory(async (dir) => {
    const where = { paths: masterBus(dir), directory: `${dir}/log` };
    await assertRejects(() => LogFollower.open(where, (reader) => reader.seekEnd()), NoMasterError, "Nothing answers");
  }));
