/** @module */
import { LoggedSubscriber, type SubscribedBus } from "#lib/bus/logged_subscriber.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { type BusPaths, logSocket, masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { strictTest } from "#tests/support/strict.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** More than the queues of bus and subscriber (21,000) and the system's buffers. */
const BURST = 30_000;

interface Place {
  readonly paths: BusPaths;
  readonly directory: string;
  /** Publishes events `n` from `from` to `to`; every tenth is of another tag, which nobody wants. */
  fire(from: number, to: number): Promise<void>;
}

async function withBus(run: (place: Place) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (dir) => {
    const paths = masterBus(dir), directory = `${dir}/log`;
    const bus = await BusPump.open(paths, {
      log: SILENT_LOGGER,
      maxWaitingEvents: 1_000,
      eventLog: { directory, keepS: 3600, maxBytes: 1 << 30 },
    });
    {
      using sender = new EventSender(paths.pull);
      using quick = await EventSubscriber.connect(paths.pub, [""]);
      await run({
        paths,
        directory,
        async fire(from, to) {
          for (let n = from; n < to; n++) {
            assert(await sender.fire(n % 10 === 9 ? "other" : `n/${n}`, map({ n })));
            assertEquals((await quick.next(WITHIN_MS))?.data.get("n"), n);
          }
        },
      });
    }
    await bus.close();
  });
}

const counting = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => from + i).filter((n) => n % 10 !== 9);

async function readTo(last: number, events: LoggedSubscriber): Promise<Value[]> {
  const read: Value[] = [];
  while (read.at(-1) !== last) {
    const event = await events.next(WITHIN_MS, (tag) => tag !== "n/0");
    assert(event !== undefined, `nothing after ${read.at(-1)}`);
    read.push(event.data.get("n") ?? null);
  }
  return read;
}

strictTest(
  "a subscriber that the bus has skipped gets each event once, in order, those before and after the gap too",
  () =>
    withBus(async ({ paths, directory, fire }) => {
      await fire(0, 50);
      using events = await LoggedSubscriber.connect({ paths, directory }, ["n/"]);
      await fire(50, 100);
      assertEquals(await readTo(98, events), counting(50, 100));
      assert(!events.readsLog);
      await fire(100, BURST);
      assertEquals(await readTo(BURST - 2, events), counting(100, BURST));
      assert(events.readsLog);
      await fire(BURST, BURST + 100);
      assertEquals(await readTo(BURST + 98, events), counting(BURST, BURST + 100));
      assertEquals(await events.next(0), undefined);
    }),
);

strictTest(
  "one that is skipped before it has read anything begins where it has subscribed, and may be closed just then",
  () =>
    withBus(async ({ paths, directory, fire }) => {
      using events = await LoggedSubscriber.connect({ paths, directory }, ["n/", "other"]);
      let looks = 0;
      const bus: SubscribedBus = {
        directory,
        get paths() {
          // The second look is that of the log, which is opened a little later.
          if (++looks === 2) queueMicrotask(() => ended.close());
          return paths;
        },
      };
      using ended = await LoggedSubscriber.connect(bus, ["n/"]);
      await fire(1, BURST);
      const all: Value[] = [];
      while (all.at(-1) !== BURST - 1) all.push((await events.next(WITHIN_MS))?.data.get("n") ?? null);
      assertEquals(all, Array.from({ length: BURST - 1 }, (_, i) => i + 1));
      // One that is closed while it opens the log ends, and leaves nothing open.
      const before: Value[] = [];
      for (let event = await ended.next(WITHIN_MS); event !== undefined; event = await ended.next(WITHIN_MS)) {
        before.push(event.data.get("n") ?? null);
      }
      assert(before.length > 0 && before.length < counting(1, BURST).length, `${before.length}`);
      assertEquals(before, counting(1, BURST).slice(0, before.length));
      assertEquals([looks, ended.readsLog], [2, false]);
    }),
);

strictTest(
  "without a log that it may read, it goes on with what the bus gives",
  () =>
    withBus(async ({ paths, directory, fire }) => {
      using kept = await LoggedSubscriber.connect({ paths, directory: undefined }, ["n/"]);
      using unread = await LoggedSubscriber.connect({ paths, directory }, ["n/"]);
      await fire(0, BURST);
      Deno.renameSync(logSocket(paths), `${logSocket(paths)}.away`);
      for (const events of [kept, unread]) {
        let count = 0;
        for (let event = await events.next(1_000); event !== undefined; event = await events.next(1_000)) count++;
        assert(count > 1_000 && count < counting(0, BURST).length && !events.readsLog, `${count} read`);
      }
      const rest = [kept, unread].map((events) => readTo(BURST, events));
      await fire(BURST, BURST + 1);
      assertEquals(await Promise.all(rest), [[BURST], [BURST]]);
      Deno.renameSync(`${logSocket(paths)}.away`, logSocket(paths));
    }),
);
