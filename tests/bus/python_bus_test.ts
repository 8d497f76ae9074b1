/**
 * The event bus for Python programs, read and written as Salt's transport does. For the test with Python itself see
 * tests/interop/python_clients_test.ts.
 * @module
 */
import { BusPump } from "#lib/bus/pump.ts";
import { packEvent, unpackMatching } from "#lib/bus/event.ts";
import { type BusPaths, masterBus, pythonBus } from "#lib/bus/paths.ts";
import { PythonBus } from "#lib/bus/python_bus.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { strictTest } from "#tests/support/strict.ts";

const BOUND_MS = 60_000;

/** The bytes that a subscriber of Salt 3008 would read for an event with this tag and data. */
function framed(tag: string, data: ValueMap): Uint8Array {
  return encode(new Map<string, Value>([["head", new Map()], ["body", packEvent(tag, data)]]), "disk");
}

/** The bytes that a sender of Salt would write. */
function sent(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4 + content.length);
  new DataView(bytes.buffer).setUint32(0, content.length);
  bytes.set(content, 4);
  return bytes;
}

async function readExactly(connection: Deno.Conn, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size;) at += await connection.read(bytes.subarray(at)) ?? size;
  return bytes;
}

async function write(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

async function withBus(run: (ours: BusPaths, python: BusPaths, pump: BusPump) => Promise<void>): Promise<void> {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const paths = [masterBus(dir), pythonBus(dir)] as const;
  const pump = await BusPump.open(paths[0], { log: SILENT_LOGGER, python: paths[1] });
  try {
    await run(...paths, pump);
  } finally {
    await pump.close();
    assertEquals([...Deno.readDirSync(dir)].map(({ name }) => name), []);
    Deno.removeSync(dir, { recursive: true });
  }
}

strictTest(
  "a Python program hears events of our processes, small and large, and only the master's user can",
  () =>
    withBus(async (ours, python, pump) => {
      for (const path of [python.pub, python.pull]) assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
      using connection = await Deno.connect({ transport: "unix", path: python.pub });
      await eventually(() => pump.describe().includes("1 Python programs") || undefined, { what: "the program" });
      using sender = new EventSender(ours.pull);
      for (const data of [map({ a: 1 }), map({ big: "x".repeat(3_000_000) })]) {
        assert(await sender.fire("some/tag", data));
        const expected = framed("some/tag", data);
        assertEquals(decode(await readExactly(connection, expected.length), "disk"), decode(expected, "disk"));
      }
    }),
);

strictTest(
  "what a Python program sends, in any pieces, reaches our processes and Python's",
  () =>
    withBus(async (ours, python) => {
      using subscriber = await EventSubscriber.connect(ours.pub, ["mine/"]);
      using connection = await Deno.connect({ transport: "unix", path: python.pub });
      using sender = await Deno.connect({ transport: "unix", path: python.pull });
      const bytes = ["mine/1", "mine/2"].map((tag) => sent(framed(tag, map({ tag })))).flatMap((part) => [...part]);
      for (let at = 0; at < bytes.length; at += 7) await write(sender, Uint8Array.from(bytes.slice(at, at + 7)));
      for (const tag of ["mine/1", "mine/2"]) {
        assertEquals(await subscriber.next(BOUND_MS), { tag, data: map({ tag }) });
      }
      const expected = framed("mine/1", map({ tag: "mine/1" }));
      const { body } = Object.fromEntries(decode(await readExactly(connection, expected.length), "disk") as ValueMap);
      assertEquals(unpackMatching(body as Uint8Array, () => true)?.tag, "mine/1");
    }),
);

strictTest("a sender of invalid data is disconnected, and the others are not", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const { log, lines } = memoryLog();
  const published: Uint8Array[] = [];
  const bus = PythonBus.open(pythonBus(dir), { log, listeners: [], publish: (event) => void published.push(event) });
  const path = pythonBus(dir).pull;
  using good = await Deno.connect({ transport: "unix", path });
  const hostile = [
    sent(Uint8Array.of(1)),
    sent(encode(map({ head: {} }), "disk")),
    sent(encode(map({ head: {}, body: "text" }), "disk")),
    sent(encode(map({ head: {}, body: new TextEncoder().encode("no end of a tag") }), "disk")),
    Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x81),
    sent(new Uint8Array(1_000).fill(0x91)),
  ];
  for (const bytes of hostile) {
    using bad = await Deno.connect({ transport: "unix", path });
    await write(bad, bytes);
    assertEquals(await bad.read(new Uint8Array(1)), null);
  }
  await eventually(() => lines.length === hostile.length || undefined, { what: "a line for each" });
  await write(good, sent(framed("still/here", map({}))));
  await eventually(() => published.length === 1 || undefined, { what: "the event" });
  // Programs end, also in the middle of an event.
  const event = sent(framed("the/last", map({})));
  for (const part of [event, event.subarray(0, 2), event.subarray(0, 9)]) {
    const ending = await Deno.connect({ transport: "unix", path });
    await write(ending, part);
    await ending.closeWrite();
    assertEquals(await ending.read(new Uint8Array(1)), null);
    ending.close();
  }
  assertEquals([published.length, lines.length], [2, hostile.length]);
  await bus.close();
  Deno.removeSync(dir, { recursive: true });
});

Deno.test("what a subscriber writes is ignored, and users that are named may connect", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const { pub, pull } = pythonBus(dir);
  const bus = PythonBus.open({ pub, pull }, { log: SILENT_LOGGER, listeners: [4711], publish: () => {} });
  // The group's bits are the most that any of the users may.
  assertEquals([pub, pull].map((path) => (Deno.statSync(path).mode ?? 0) & 0o777), [0o660, 0o600]);
  using subscriber = await Deno.connect({ transport: "unix", path: pub });
  await write(subscriber, new Uint8Array(5_000));
  await eventually(() => bus.subscribers === 1, { what: "the subscriber" });
  bus.publish(packEvent("tag", map({})));
  const expected = framed("tag", map({}));
  assertEquals(await readExactly(subscriber, expected.length), expected);
  await bus.close();
  Deno.removeSync(dir, { recursive: true });
});

strictTest("a subscriber that does not read misses events, which is logged once", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const { log, lines } = memoryLog();
  const bus = PythonBus.open(pythonBus(dir), { log, listeners: [], publish: () => {}, waitingBytes: 100_000 });
  using slow = await Deno.connect({ transport: "unix", path: pythonBus(dir).pub });
  await eventually(() => bus.subscribers === 1 || undefined, { what: "the subscriber" });
  const event = packEvent("tag", map({ text: "x".repeat(10_000) }));
  for (let i = 0; i < 200; i++) bus.publish(event);
  assertEquals(lines.length, 1, lines.join("\n"));
  const size = framed("tag", map({ text: "x".repeat(10_000) })).length;
  let read = 0;
  while (lines.length < 2) {
    await readExactly(slow, size);
    read++;
    await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
  }
  const [, missed] = /it has missed (\d+) events/.exec(lines[1]) ?? [];
  assert(Number(missed) > 0 && read + Number(missed) <= 200, `${read} read, ${missed} missed`);
  await bus.close();
  Deno.removeSync(dir, { recursive: true });
});

/** Connects programs that do not read. */
async function connectIdle(path: string, { bus, count }: { bus: PythonBus; count: number }): Promise<Deno.Conn[]> {
  const before = bus.subscribers;
  const idle = await Promise.all(Array.from({ length: count }, () => Deno.connect({ transport: "unix", path })));
  await eventually(() => bus.subscribers === before + count || undefined, { what: `${count} more subscribers` });
  return idle;
}

strictTest("what waits for all programs that do not read is bounded, and one that reads misses nothing", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const { log, lines } = memoryLog();
  const waitingBytes = 1_000_000;
  const bus = PythonBus.open(pythonBus(dir), { log, listeners: [], publish: () => {}, waitingBytes });
  const path = pythonBus(dir).pub;
  using reader = await Deno.connect({ transport: "unix", path });
  await eventually(() => bus.subscribers === 1 || undefined, { what: "the reader" });
  const idle: Deno.Conn[] = [];
  // They come one after the other, so that different events wait for each of them.
  for (let event = 0; event < 400; event++) {
    if (event % 10 === 0) idle.push(...await connectIdle(path, { bus, count: 1 }));
    const data = map({ event, text: "x".repeat(20_000) });
    bus.publish(packEvent("tag", data));
    assert(bus.waitingBytes <= waitingBytes, `${bus.waitingBytes} bytes wait after ${event} events`);
    const expected = framed("tag", data);
    assertEquals(await readExactly(reader, expected.length), expected);
  }
  // A connection takes some events before its buffer in the kernel is full, and so seems to read again once.
  assert(lines.length >= 1 && lines.length <= 3 * idle.length, `${lines.length} lines:\n${lines.join("\n")}`);
  for (const connection of idle) connection.close();
  await eventually(() => bus.subscribers === 1 || undefined, { what: "the end of the others" });
  assertEquals(bus.waitingBytes, 0);
  await bus.close();
  Deno.removeSync(dir, { recursive: true });
});

strictTest(
  "large events that wait in the middle of a write end the connections that have not read for long",
  async () => {
    const dir = Deno.makeTempDirSync({ prefix: "bus_" });
    const { log, lines } = memoryLog();
    const options = { log, listeners: [], publish: () => {}, waitingBytes: 5_000_000, stalledMs: 0 };
    const bus = PythonBus.open(pythonBus(dir), options);
    const path = pythonBus(dir).pub;
    using reader = await Deno.connect({ transport: "unix", path });
    await eventually(() => bus.subscribers === 1 || undefined, { what: "the reader" });
    const idle: Deno.Conn[] = [];
    for (let event = 0; event < 8; event++) {
      idle.push(...await connectIdle(path, { bus, count: 1 }));
      const data = map({ event, text: "x".repeat(2_000_000) });
      bus.publish(packEvent("tag", data));
      assert(bus.waitingBytes <= 5_000_000, `${bus.waitingBytes} bytes wait after ${event} events`);
      const expected = framed("tag", data);
      assertEquals(await readExactly(reader, expected.length), expected);
      await eventually(() => bus.subscribers <= 3 || undefined, { what: "the end of those that do not read" });
    }
    assert(lines.some((line) => line.includes("it is disconnected")), lines.join("\n"));
    for (const connection of idle) connection.close();
    await bus.close();
    Deno.removeSync(dir, { recursive: true });
  },
);

strictTest(
  "an event above the bound goes to a program that has read all others, and is missed by the rest",
  async () => {
    const dir = Deno.makeTempDirSync({ prefix: "bus_" });
    const { log, lines } = memoryLog();
    const bus = PythonBus.open(pythonBus(dir), { log, listeners: [], publish: () => {}, waitingBytes: 100_000 });
    const path = pythonBus(dir).pub;
    const data = map({ text: "x".repeat(1_000_000) });
    const [idle] = await connectIdle(path, { bus, count: 1 });
    bus.publish(packEvent("tag", data));
    assertEquals([bus.waitingBytes > 100_000, lines.length], [true, 0], lines.join("\n"));
    const [reader] = await connectIdle(path, { bus, count: 1 });
    bus.publish(packEvent("tag", data));
    const expected = framed("tag", data);
    assertEquals(await readExactly(reader, expected.length), expected);
    assertEquals(lines.length, 1, lines.join("\n"));
    assert(lines[0].includes("does not read: it misses events now"), lines[0]);
    // While it waits for one that has not stalled yet, there is no room for another event either.
    const small = map({ text: "small" });
    bus.publish(packEvent("tag", small));
    assertEquals([bus.subscribers, bus.waitingBytes > 100_000, lines.length], [2, true, 1], lines.join("\n"));
    const missed = framed("tag", small);
    assertEquals(await readExactly(reader, missed.length), missed);
    reader.close();
    idle.close();
    await bus.close();
    Deno.removeSync(dir, { recursive: true });
  },
);

strictTest("more programs than the bound are refused, which is logged once, until one has gone", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const { log, lines } = memoryLog();
  const bus = PythonBus.open(pythonBus(dir), { log, listeners: [], publish: () => {}, mostSubscribers: 3 });
  const path = pythonBus(dir).pub;
  const idle = await connectIdle(path, { bus, count: 3 });
  for (let i = 0; i < 5; i++) {
    using refused = await Deno.connect({ transport: "unix", path });
    assertEquals(await refused.read(new Uint8Array(1)), null);
  }
  assertEquals([bus.subscribers, lines.length], [3, 1], lines.join("\n"));
  idle.pop()?.close();
  await eventually(() => bus.subscribers === 2 || undefined, { what: "the end of one" });
  idle.push(...await connectIdle(path, { bus, count: 1 }));
  bus.publish(packEvent("tag", map({})));
  const expected = framed("tag", map({}));
  for (const one of idle) assertEquals(await readExactly(one, expected.length), expected);
  for (const one of idle) one.close();
  await bus.close();
  Deno.removeSync(dir, { recursive: true });
});

strictTest("many small events reach a program in their order, also when they were written together", async () => {
  const dir = Deno.makeTempDirSync({ prefix: "bus_" });
  const bus = PythonBus.open(pythonBus(dir), { log: SILENT_LOGGER, listeners: [], publish: () => {} });
  using reader = await Deno.connect({ transport: "unix", path: pythonBus(dir).pub });
  await eventually(() => bus.subscribers === 1 || undefined, { what: "the reader" });
  const events = Array.from({ length: 3_000 }, (_, number) => map({ number, text: "x".repeat(number % 500) }));
  // One that is larger than what is written together, in the middle.
  events.splice(1_500, 0, map({ text: "y".repeat(300_000) }));
  for (const data of events) bus.publish(packEvent("tag", data));
  for (const data of events) {
    const expected = framed("tag", data);
    assertEquals(await readExactly(reader, expected.length), expected);
  }
  await eventually(() => bus.waitingBytes === 0 || undefined, { what: "the end of the queue" });
  // What is published while the bus ends waits for nobody.
  const closing = bus.close();
  bus.publish(packEvent("tag", map({})));
  assertEquals([bus.subscribers, bus.waitingBytes], [1, 0]);
  await closing;
  Deno.removeSync(dir, { recursive: true });
});
