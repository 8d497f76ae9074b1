/** @module */
import { BusPump } from "#lib/bus/pump.ts";
import { NoMasterError } from "#lib/errors.ts";
import { fireEvent } from "#lib/bus/fire.ts";
import { packEvent } from "#lib/bus/event.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { watchBus } from "#lib/bus/watch.ts";
import { sleep } from "#lib/os/sleep.ts";
import { type BusPaths, masterBus, minionBus, minionBusIn } from "#lib/bus/paths.ts";
import { busStatePath } from "#lib/bus/state_file.ts";
import { PIECE_BYTES } from "#lib/bus/pieces.ts";
import { Outbox } from "#lib/sockets/endpoint.ts";
import { map } from "#lib/values/value.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { strictTest } from "#tests/support/strict.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

/** Far above the time that these tests need, also on a busy machine. */
const BOUND_MS = 60_000;

async function withBus(run: (paths: BusPaths, bus: BusPump) => Promise<void>): Promise<void> {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = masterBus(dir);
  const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
  try {
    await run(paths, bus);
  } finally {
    await bus.close();
    Deno.removeSync(dir, { recursive: true });
  }
}

strictTest("an event that cannot be sent any more is named in the log", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const { log, lines } = memoryLog();
  const sender = new EventSender(masterBus(dir).pull, 0);
  sender.close();
  await sender.fireOrLog("salt/key", map({}), log);
  assertEquals(lines, ["ERROR The event bus did not take the event salt/key"]);
  Deno.removeSync(dir);
});

Deno.test("the buses of minions in a directory are found by their names", () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const names = ["b2", "a1"].map((id) => minionBus({ sock_dir: dir, id, hash_type: "sha256" }).pub);
  for (
    const path of [
      ...names,
      `${dir}/master_event_pub.ipc`,
      `${dir}/minion_bus_0_pub.ipc`,
      `${dir}/minion_event_0123456789_pub.ipc`,
    ]
  ) {
    Deno.writeTextFileSync(path, "");
  }
  assertEquals(minionBusIn(dir), names.sort());
  assertEquals([`${dir}/none`, `${dir}/master_event_pub.ipc`].map(minionBusIn), [[], []]);
  assertThrows(() => minionBusIn(`${dir}/${"x".repeat(300)}`), Error, "too long");
  Deno.removeSync(dir, { recursive: true });
});

strictTest("an event reaches every subscriber of its tag's beginning, and no other", () =>
  withBus(async (paths) => {
    using jobs = await EventSubscriber.connect(paths.pub, ["salt/job/1", "salt/key"]);
    using all = await EventSubscriber.connect(paths.pub, [""]);
    using sender = new EventSender(paths.pull);
    for (const tag of ["salt/job/1/new", "salt/job/2/new", "salt/key", "other"]) {
      assert(await sender.fire(tag, map({ tag })));
    }
    const read = async (from: EventSubscriber, count: number) => {
      const tags: (string | undefined)[] = [];
      for (let i = 0; i < count; i++) tags.push((await from.next(BOUND_MS))?.tag);
      return tags;
    };
    assertEquals(await read(jobs, 2), ["salt/job/1/new", "salt/key"]);
    assertEquals(await read(all, 4), ["salt/job/1/new", "salt/job/2/new", "salt/key", "other"]);
    assertEquals([await jobs.next(30), await all.next(0)], [undefined, undefined]);
  }));

strictTest(
  "a subscriber that reads tags alone gets all of its own, in their order, though it rests between, until it is closed",
  () =>
    withBus(async (paths) => {
      const signs = await EventSubscriber.connect(paths.pub, ["salt/job"]);
      using sender = new EventSender(paths.pull);
      const received: string[] = [];
      const reading = signs.readTags((tag) => void received.push(tag), 5);
      const tags = Array.from({ length: 500 }, (_, i) => `salt/job/${i}/ret/web1`);
      for (const [i, tag] of tags.entries()) {
        assert(await sender.fire(tag, map({ tag })));
        if (i % 100 === 0) assert(await sender.fire("other", map({ tag })));
        if (i % 200 === 0) {
          await eventually(() => received.length === i + 1, { what: `${i + 1} tags` });
        }
      }
      await eventually(() => received.length === tags.length, { what: "all tags" });
      assertEquals(received, tags);
      signs.close();
      await reading;
    }),
);

strictTest(
  "a subscriber that waits among others' events rests between them, and gets all of its own, in their order",
  () =>
    withBus(async (paths) => {
      const subscriber = await EventSubscriber.connect(paths.pub, [""]);
      using sender = new EventSender(paths.pull);
      const mine = (tag: string) => tag.startsWith("mine/");
      const received: string[] = [];
      const receive = async () => {
        for (
          let event = await subscriber.next(-1, mine);
          event !== undefined;
          event = await subscriber.next(-1, mine)
        ) {
          received.push(event.tag);
        }
      };
      const reading = receive();
      const expected: string[] = [];
      for (let round = 0; round < 5; round++) {
        // Long enough that the subscriber pauses.
        for (const end = performance.now() + 60; performance.now() < end;) {
          assert(await sender.fire("other", map({ round })));
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        for (const tag of [`mine/${round}/a`, `mine/${round}/b`]) {
          assert(await sender.fire(tag, map({ round })));
          expected.push(tag);
        }
      }
      await eventually(() => received.length === expected.length, { what: "all of its own" });
      assertEquals(received, expected);
      // Events with other tags are not received, neither at the time-out nor after close.
      assert(await sender.fire("other", map({})));
      subscriber.close();
      await reading;
      using other = await EventSubscriber.connect(paths.pub, [""]);
      assert(await sender.fire("other", map({})));
      assertEquals(await other.next(50, mine), undefined);
    }),
);

strictTest("subscriptions are live when connect() resolves, on a quiet bus", () =>
  withBus(async (paths) => {
    using sender = new EventSender(paths.pull);
    for (let round = 0; round < 40; round++) {
      const tag = `round/${round}`;
      const subscribers = await Promise.all(Array.from({ length: 5 }, () => EventSubscriber.connect(paths.pub, [tag])));
      assert(await sender.fire(tag, map({ round })));
      const received = await Promise.all(subscribers.map((subscriber) => subscriber.next(BOUND_MS)));
      for (const subscriber of subscribers) subscriber.close();
      assertEquals(received.map((event) => event?.tag), subscribers.map(() => tag));
    }
  }));

strictTest("subscriptions are live when connect() resolves, while the bus is flooded", () =>
  withBus(async (paths) => {
    using sender = new EventSender(paths.pull);
    let flooding = true;
    const noise = map({ noise: "x".repeat(100) });
    let n = 0;
    const flood = (async () => {
      using outbox = new EventSender(paths.pull);
      using received = await EventSubscriber.connect(paths.pub, ["noise"]);
      while (flooding) {
        for (let i = 0; i < 200; i++) await outbox.fire("noise", noise.set("n", n++));
        // At the speed of the bus: a growing queue would delay the other events.
        for (let i = 0; i < 200; i++) assert(await received.next(BOUND_MS) !== undefined);
      }
    })();
    try {
      for (let round = 0; round < 60; round++) {
        const tag = `round/${round}`;
        using subscriber = await EventSubscriber.connect(paths.pub, [tag]);
        assert(await sender.fire(tag, map({ round })));
        assertEquals((await subscriber.next(BOUND_MS))?.tag, tag);
        if (round >= 10) continue;
        // One that reads what floods it has every event from the first, also what came while it connected.
        using loud = await EventSubscriber.connect(paths.pub, ["noise"]);
        const first = (await loud.next(BOUND_MS))?.data.get("n");
        for (let i = 1; i < 5; i++) assertEquals((await loud.next(BOUND_MS))?.data.get("n"), Number(first) + i);
      }
    } finally {
      flooding = false;
      await flood;
    }
  }));

strictTest("nothing is lost of 20,000 events to 8 subscribers, one of them slow", async () => {
  await withBus(async (paths) => {
    const count = 20_000;
    const subscribers = await Promise.all(Array.from({ length: 8 }, () => EventSubscriber.connect(paths.pub, ["n/"])));
    const sent = Promise.withResolvers<void>();
    const reading = subscribers.map(async (subscriber, i) => {
      for (let n = 0; n < count; n++) {
        // The slow subscriber reads nothing until all events have been sent.
        if (i === 0 && n === 0) await sent.promise;
        const event = await subscriber.next(BOUND_MS);
        if (event?.data.get("n") !== n) return `${n} expected, ${event?.data.get("n")} came`;
      }
      return "all";
    });
    using sender = new EventSender(paths.pull);
    for (let n = 0; n < count; n++) assert(await sender.fire(`n/${n}`, map({ n, text: "x".repeat(100) })));
    sent.resolve();
    assertEquals(await Promise.all(reading), reading.map(() => "all"));
    for (const subscriber of subscribers) subscriber.close();
  });
});

strictTest(
  "what a subscriber misses that does not read is counted, said, and told to it; the others get all",
  async () => {
    const dir = Deno.makeTempDirSync({ prefix: "bus_" });
    const paths = minionBus({ sock_dir: dir, id: "web1", hash_type: "sha256" });
    const { log, lines } = memoryLog();
    const bus = await BusPump.open(paths, { log, maxWaitingEvents: 1_000 });
    // The list for operators cannot be written: the bus goes on.
    Deno.mkdirSync(`${busStatePath(paths)}/in_the_way`, { recursive: true });
    {
      using slow = await EventSubscriber.connect(paths.pub, ["n"]);
      using quick = await EventSubscriber.connect(paths.pub, ["n"]);
      using sender = new EventSender(paths.pull);
      const count = 30_000; // more than the queues of bus and subscriber (21,000) and the system buffers
      for (let n = 0; n < count; n++) {
        assert(await sender.fire("n", map({ n })));
        assertEquals((await quick.next(BOUND_MS))?.data.get("n"), n);
      }
      assertEquals(quick.missed, 0);
      assertStringIncludes(
        lines.join("\n"),
        `WARNING The subscriber of the event bus in process ${Deno.pid} does not read`,
      );
      let received = 0;
      await eventually(async () => {
        while (await slow.next(20) !== undefined) received++;
        return received + slow.missed === count;
      }, { what: "the count of what was missed" });
      assert(slow.missed > 0 && received >= 20_000, `${slow.missed} missed, ${received} received`);
      await eventually(() => lines.some((line) => line.includes("reads again")), { what: "the word" });
      assertStringIncludes(lines.join("\n"), "ERROR The list of the event bus's subscribers could not be written: ");
    }
    Deno.removeSync(busStatePath(paths), { recursive: true });
    await bus.close();
    Deno.removeSync(dir, { recursive: true });
  },
);

strictTest("a watcher of the bus is told how many events it has missed", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = masterBus(dir);
  const bus = await BusPump.open(paths, { log: SILENT_LOGGER, maxWaitingEvents: 1_000 });
  {
    using sender = new EventSender(paths.pull);
    const fire = async () => assert(await sender.fire("n", map({})));
    const missedCounts: number[] = [];
    const watching = new AbortController();
    const events = watchBus(paths.pub, {
      tags: "n",
      signal: watching.signal,
      onMissed: (missed) => missedCounts.push(missed),
    });
    const first = events.next();
    await eventually(async () => {
      await fire();
      return await Promise.race([first.then(() => true), sleep(20).then(() => false)]);
    }, { what: "the first event" });
    const count = 30_000; // more than the queues of bus and subscriber (21,000) and the system buffers
    for (let n = 0; n < count; n++) await fire();
    const reading = (async () => {
      for await (const _ of events);
    })();
    await eventually(async () => {
      await fire();
      await sleep(20);
      return missedCounts.length > 0;
    }, { what: "the number of missed events" });
    watching.abort();
    await reading;
    assert(missedCounts[0] > 0 && missedCounts[0] < count, `${missedCounts} missed`);
  }
  await bus.close();
  Deno.removeSync(dir, { recursive: true });
});

strictTest("a subscriber that reads misses nothing when one event among small ones is large", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = masterBus(dir);
  const { log, lines } = memoryLog();
  const bus = await BusPump.open(paths, { log });
  {
    using subscriber = await EventSubscriber.connect(paths.pub, ["n"]);
    using sender = new EventSender(paths.pull);
    const pass = async (n: number, text: string) => {
      assert(await sender.fire("n", map({ n, text })));
      assertEquals((await subscriber.next(BOUND_MS))?.data.get("n"), n);
    };
    for (let n = 0; n < 8_000; n++) await pass(n, n % 2_000 === 1_999 ? "x".repeat(20_000_000) : "");
    assertEquals(subscriber.missed, 0);
  }
  await bus.close();
  assertEquals(lines.filter((line) => line.includes("does not read")), []);
  Deno.removeSync(dir, { recursive: true });
});

strictTest(
  "what waits for a subscriber that does not read is bounded in bytes: large events count as many",
  async () => {
    const dir = Deno.makeTempDirSync({ prefix: "bus_" });
    const paths = masterBus(dir);
    const bus = await BusPump.open(paths, { log: SILENT_LOGGER, maxWaitingEvents: 1_000 });
    {
      using slow = await EventSubscriber.connect(paths.pub, ["n"]);
      using quick = await EventSubscriber.connect(paths.pub, ["n"]);
      using sender = new EventSender(paths.pull);
      const count = 3_500;
      const text = "x".repeat(10 * PIECE_BYTES);
      for (let n = 0; n < count; n++) {
        assert(await sender.fire("n", map({ n, text })));
        const event = await quick.next(BOUND_MS);
        assertEquals([event?.data.get("n"), event?.data.get("text") === text], [n, true]);
      }
      assertEquals(quick.missed, 0);
      let received = 0;
      await eventually(async () => {
        while (await slow.next(20) !== undefined) received++;
        return received + slow.missed === count;
      }, { what: "the count of what was missed" });
      // The queues of the bus (1,000) and of the subscriber (20,000), and the buffers of libzmq and the system.
      assert(received < 2_500, `${received} received`);
    }
    await bus.close();
    Deno.removeSync(dir, { recursive: true });
  },
);

strictTest("a subscriber and a sender outlive a bus that is started again", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = minionBus({ sock_dir: dir, id: "web1", hash_type: "sha256" });
  const first = await BusPump.open(paths, { log: SILENT_LOGGER });
  using subscriber = await EventSubscriber.connect(paths.pub, ["a"]);
  using sender = new EventSender(paths.pull);
  assert(await sender.fire("a/1", new Map()));
  assertEquals((await subscriber.next(BOUND_MS))?.tag, "a/1");
  await first.close();
  assertEquals([...Deno.readDirSync(dir)], [], "no socket file is left");
  const second = await BusPump.open(paths, { log: SILENT_LOGGER });
  // Both reconnect by themselves; the second welcome is not an event.
  await eventually(async () => {
    assert(await sender.fire("a/2", new Map()));
    return (await subscriber.next(50))?.tag === "a/2";
  }, { what: "an event over the new bus" });
  await second.close();
  Deno.removeSync(dir, { recursive: true });
});

strictTest("what a bus that died has left behind is replaced", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = masterBus(dir);
  for (const path of [paths.pub, paths.pull]) Deno.listen({ transport: "unix", path }).close();
  for (const path of [paths.pub, paths.pull]) if (!exists(path)) Deno.writeTextFileSync(path, "");
  const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
  for (const path of [paths.pub, paths.pull]) assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  (await EventSubscriber.connect(paths.pub, [""])).close();
  await bus.close();
  Deno.removeSync(dir, { recursive: true });
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path) !== undefined;
  } catch {
    return false;
  }
}

strictTest("a bus whose place cannot be had leaves nothing behind", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = { pull: `${dir}/pull.ipc`, pub: `${dir}/missing/pub.ipc` };
  await assertRejects(() => BusPump.open(paths, { log: SILENT_LOGGER }), Error);
  Deno.removeSync(dir, { recursive: true });
});

strictTest("a bus without a server is reported in time, and close() ends a wait for events", async () => {
  await assertRejects(() => EventSubscriber.connect("/nonexistent/pub.ipc", [""]), NoMasterError);
  await withBus(async (paths) => {
    const subscriber = await EventSubscriber.connect(paths.pub, [""]);
    const waiting = subscriber.next();
    subscriber.close();
    assertEquals(await waiting, undefined);
  });
});

strictTest("an invalid frame disturbs no subscriber", () =>
  withBus(async (paths) => {
    using subscriber = await EventSubscriber.connect(paths.pub, [""]);
    using outbox = Outbox.push({ lingerMs: 1_000 });
    outbox.connect(`ipc://${paths.pull}`);
    const frames = ["", "x", "tag\n\n", "tag\n\n\xc1", "tag\n\n\x90", "a\n\n\x80\n\n\x80", "\u0001welcome"];
    for (const frame of frames) assert(await outbox.send([new TextEncoder().encode(frame)]));
    using sender = new EventSender(paths.pull);
    assert(await sender.fire("good", new Map()));
    assertEquals((await subscriber.next(BOUND_MS))?.tag, "good");
  }));

strictTest("an event that does not come is not waited for beyond its time", () =>
  withBus(async (paths) => {
    using subscriber = await EventSubscriber.connect(paths.pub, [""]);
    assertEquals(await subscriber.passes(packEvent("never", new Map()), 20), false);
  }));

strictTest("an event is fired only where a bus takes it", () =>
  withBus(async (paths) => {
    assertEquals(await fireEvent(paths, "tag", new Map()), true);
    assertEquals(await fireEvent({ ...paths, pub: `${paths.pub}_missing` }, "tag", new Map()), false);
    // Nobody takes what is pushed there.
    assertEquals(await fireEvent({ ...paths, pull: `${paths.pull}_missing` }, "tag", new Map()), false);
    // Somebody listens who is no bus.
    const path = `${paths.pub}_other`;
    using listener = Deno.listen({ transport: "unix", path });
    const taken = (async () => {
      for await (const connection of listener) connection.close();
    })();
    assertEquals(await fireEvent({ ...paths, pub: path }, "tag", new Map()), false);
    listener.close();
    await taken;
  }));

Deno.test("a bus goes on without the users, and without the Python programs, that it cannot be opened to", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const { log, lines } = memoryLog();
  // More users than an access control list has room for.
  const listeners = Array.from({ length: 20_000 }, (_, i) => 100_000 + i);
  const python = { pub: `${dir}/missing/pub.ipc`, pull: `${dir}/missing/pull.ipc` };
  const bus = await BusPump.open(masterBus(dir), { log, listeners, python });
  assertStringIncludes(lines[0], "ERROR publisher_acl: the event bus cannot be opened to the users that it names: ");
  assertStringIncludes(lines[1], "ERROR Python programs cannot reach the event bus: ");
  assertEquals(await fireEvent(masterBus(dir), "tag", new Map()), true);
  await bus.close();
  Deno.removeSync(dir, { recursive: true });
});
