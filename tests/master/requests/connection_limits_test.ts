/**
 * Limits on connections and their memory: the rules as pure functions, and a master attacked by many connections, by
 * incomplete requests and by endless ones.
 * @module
 */

import { connect, type Socket } from "node:net";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { treeMemory } from "#tests/bench/harness/process_figures.ts";
import { type ByteCounts, largestConnections, Subscribed, Unanswered } from "#lib/sockets/connection_memory.ts";
import { ConnectionShares } from "#lib/sockets/connection_shares.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

/**
 * Adds the connections 1, 2, …, one for each address.
 * @returns The connection that each addition closed.
 */
function ends(shares: ConnectionShares, addresses: readonly string[]): (number | undefined)[] {
  return addresses.map((address, i) => shares.add(i + 1, address)?.connection);
}

Deno.test("below the total limit an address may have any number of connections", () => {
  const shares = new ConnectionShares({ total: 10_000, perAddress: 0 });
  const left = ends(shares, Array.from({ length: 10_000 }, () => "nat"));
  assertEquals([new Set(left), shares.size], [new Set([undefined]), 10_000]);
  assertEquals(shares.add(10_001, "nat")?.connection, 10_001);
});

Deno.test("at the limit, a new connection of an address with fewer connections replaces the newest one of the address with most", () => {
  const shares = new ConnectionShares({ total: 4, perAddress: 0 });
  assertEquals(ends(shares, ["a", "b", "b", "b"]), [undefined, undefined, undefined, undefined]);
  assertEquals(shares.add(5, "b")?.connection, 5); // the address with most connections gets no more
  assertEquals(shares.add(6, "c")?.connection, 4);
  assertEquals(shares.add(7, "d")?.connection, 3);
  assertEquals(shares.add(8, "e")?.connection, 8); // one each: no address has more connections than the new one
  shares.remove(1);
  assertEquals([shares.add(9, "e")?.connection, shares.size], [undefined, 4]);
});

Deno.test("the limit of an address applies below the total limit, and a reused number is a new connection", () => {
  const shares = new ConnectionShares({ total: 0, perAddress: 2 });
  assertEquals(ends(shares, ["a", "a", "a", "b"]), [undefined, undefined, 3, undefined]);
  assertEquals(shares.add(1, "a")?.connection, undefined);
  shares.remove(99);
  assertEquals([shares.size, shares.addressOf(3), shares.addressOf(4)], [3, undefined, "b"]);
});

Deno.test("the address with most connections is right after any order of connects and disconnects", () => {
  const shares = new ConnectionShares({ total: 40, perAddress: 0 });
  const there = new Map<number, string>();
  let state = 7;
  const random = (below: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % below;
  const max = () => {
    const counts = new Map<string, number>();
    for (const address of there.values()) counts.set(address, (counts.get(address) ?? 0) + 1);
    return { counts, max: Math.max(...counts.values()) };
  };
  for (let n = 1; n < 3_000; n++) {
    if (random(3) === 0 && there.size > 0) {
      const gone = [...there.keys()][random(there.size)];
      there.delete(gone);
      shares.remove(gone);
      continue;
    }
    const address = `address${random(6)}`;
    there.set(n, address);
    const before = max();
    const end = shares.add(n, address)?.connection;
    assertEquals(end === undefined, there.size <= 40);
    if (end === undefined) continue;
    assertEquals(before.counts.get(there.get(end) ?? ""), before.max);
    there.delete(end);
  }
  assertEquals(new Set(shares.all), new Set(there.keys()));
});

const counts = (of: Record<number, [received: number, taken: number]>) =>
  new Map<number, ByteCounts>(
    Object.entries(of).map(([n, [received, taken]]) => [Number(n), { received, taken, unsent: 0, ageMs: 0 }]),
  );
const values = (held: Map<number, number>) => [...held.values()];

Deno.test("bytes received since the last reply count as unanswered; the answer to a PING is no reply", () => {
  const rule = new Unanswered();
  // A connection without a reply, and one with many replies before the first check.
  assertEquals(values(rule.weigh(counts({ 1: [5_000, 100], 2: [9_000, 40_000] }))), [5_000, 0]);
  assertEquals(values(rule.weigh(counts({ 1: [50_000, 122], 2: [9_500, 40_000] }))), [50_000, 500]);
  // A reply answers the bytes received before the last check.
  assertEquals(values(rule.weigh(counts({ 1: [50_000, 300], 2: [9_600, 40_110] }))), [0, 100]);
  // The number of a closed connection is reused for a new one.
  assertEquals(values(rule.weigh(counts({ 1: [100, 0], 2: [9_600, 40_110] }))), [100, 100]);
});

Deno.test("a peer that reads nothing for five seconds counts as holding all replies that may be queued for it", () => {
  const rule = new Unanswered(16_000);
  const look = (ageMs: number, taken: number, unsent: number) =>
    values(rule.weigh(new Map([[1, { received: 400, taken, unsent, ageMs }]])))[0];
  assertEquals([look(1_000, 9_000, 0), rule.inDoubt], [0, false]);
  assertEquals([look(2_000, 9_000, 70_000), rule.inDoubt], [0, true]);
  assertEquals([look(6_900, 9_000, 70_000), rule.inDoubt], [0, true]);
  assertEquals([look(7_000, 9_000, 70_000), rule.inDoubt], [16_000, false]);
  // A slow reader does not count as stuck.
  assertEquals([look(8_000, 9_500, 70_000), rule.inDoubt], [0, true]);
  assertEquals([look(9_000, 9_500, 0), rule.inDoubt], [0, false]);
  assertEquals([look(90_000, 9_500, 0), rule.inDoubt], [0, false]);
});

Deno.test("a subscriber holds the bytes beyond its start and its heartbeats", () => {
  const held = new Subscribed().weigh(
    new Map([
      [1, { received: 900, taken: 0, unsent: 0, ageMs: 0 }],
      [2, { received: 5_000_000, taken: 1e9, unsent: 0, ageMs: 30 * 86_400_000 }],
      [3, { received: 1_000_000, taken: 0, unsent: 0, ageMs: 60_000 }],
    ]),
  );
  assertEquals(values(held), [0, 0, 1_000_000 - 2_048 - 600]);
  assertEquals(largestConnections(new Map([[1, 10], [2, 70], [3, 20], [4, 30]]), 40), [2, 4]);
  assertEquals(largestConnections(new Map([[1, 10]]), 40), []);
});

/** A connection from an address of this host's loopback network. */
function dial(port: number, localAddress: string): { socket: Socket; closed: () => boolean } {
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  socket.on("error", () => {});
  socket.resume();
  return { socket, closed: () => socket.destroyed || socket.readableEnded };
}

const GREETING = "ff00000000000000017f0300" + "4e554c4c" + "00".repeat(48);
const ready = (type: string) => {
  const body = "055245414459" + "0b536f636b65742d54797065" + `000000${type.length.toString(16).padStart(2, "0")}` +
    new TextEncoder().encode(type).toHex();
  return `04${(body.length / 2).toString(16).padStart(2, "0")}${body}`;
};
const HANDSHAKE = (type: string) => Uint8Array.fromHex(GREETING + ready(type));

const FEW = { master: { max_connections: 12, handshake_timeout: 60 } };

fleetTest("one address gets only connections that other addresses do not need, on both ports", FEW, async (fleet) => {
  let lineCount = 0;
  for (const port of [fleet.masterOpts.ret_port, fleet.masterOpts.publish_port]) {
    const greedy = Array.from({ length: 30 }, () => dial(port, "127.0.0.2"));
    const open = () => greedy.filter(({ closed }) => !closed()).length;
    await eventually(() => open() <= 12, { what: "the end of the surplus connections" });
    const others = ["127.0.0.3", "127.0.0.4", "127.0.0.5"].map((address) => dial(port, address));
    await eventually(() => open() <= 9, { what: "room for others" });
    assertEquals(others.filter(({ closed }) => closed()), []);
    assert(open() >= 6, `only ${open()} are left`);
    for (const { socket } of [...greedy, ...others]) socket.destroy();
    // One line in ten seconds, not one for each of the twenty connections.
    const lines = fleet.logs.filter((line) => line.includes("Too many connections"));
    assert(lines.length > lineCount && lines.length < lineCount + 10, fleet.logs.join("\n"));
    lineCount = lines.length;
  }
  assertEquals((await fleet.salt("*", "test.ping")).code, 2); // no minion is connected, but the master answers
});

const HASTY = { master: { handshake_timeout: 0.3 } };

fleetTest(
  "a connection without a handshake is closed after handshake_timeout, on both ports",
  HASTY,
  async (fleet) => {
    for (const port of [fleet.masterOpts.ret_port, fleet.masterOpts.publish_port]) {
      for (const words of [new Uint8Array(), HANDSHAKE("SUB").subarray(0, 20), HANDSHAKE("SUB").subarray(0, 64)]) {
        const peer = dial(port, "127.0.0.1");
        peer.socket.write(words);
        await eventually(peer.closed, { what: `the end of a connection that sent ${words.length} bytes` });
      }
    }
  },
);

const MIB = 1 << 20;
/** The limit of the test, in bytes, and the memory that the attackers try to use. */
const BOUND = 64 * MIB;
const ATTACKERS = 24;
const WANTED = ATTACKERS * 64 * MIB;

/** More bytes than a greeting: a peer that received them has received READY, and may send. */
const GREETED = 70;

/** A peer that cannot write for so many milliseconds counts as blocked. */
const STUCK_MS = 10_000;

type Fate = "disconnected" | "blocked" | "wrote all and stayed";

/**
 * A peer that performs the handshake and writes `chunks` until it is disconnected. The data may stay in the kernel's
 * buffers for seconds until the master reads them, so the peer keeps the connection that long.
 */
async function writeUntilCut(port: number, type: string, chunks: Iterable<Uint8Array>): Promise<Fate> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let fate: Fate = "disconnected";
  const give = (end: Fate) => {
    fate = end;
    connection.close();
  };
  let timer = setTimeout(give, STUCK_MS, "blocked");
  try {
    await connection.write(HANDSHAKE(type));
    for (let read = 0; read < GREETED;) read += await connection.read(new Uint8Array(200)) ?? GREETED;
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) at += await connection.write(chunk.subarray(at));
      clearTimeout(timer);
      timer = setTimeout(give, STUCK_MS, "blocked");
    }
    clearTimeout(timer);
    timer = setTimeout(give, 60_000, "wrote all and stayed");
    while (await connection.read(new Uint8Array(200)) !== null);
  } catch {
    // Disconnected by the master, or closed by the timer.
  } finally {
    clearTimeout(timer);
  }
  return fate;
}

/** Concatenates byte arrays. */
const join = (...parts: Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]));

/** Attacks: the name, the first bytes, and the repeated bytes. */
const FLOODS: [name: string, first: string, again: Uint8Array][] = [
  ["half requests of a claimed 90 MB", "0100" + "020000000005a00000", new Uint8Array(MIB)],
  [
    "requests of frames without end",
    "0100",
    new Uint8Array([...Uint8Array.fromHex("030000000000100000"), ...new Uint8Array(MIB)]),
  ],
];

Deno.test("the memory of unanswered requests is bounded, and the peer with the most is disconnected", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1, master: { max_request_memory: BOUND } });
  const ping = async () => assertEquals((await fleet.salt("salt", "m00", "test.ping")).code, 0);
  await ping();
  const rss = () => treeMemory(fleet.master.pid).rssKb * 1024;
  const before = rss();
  for (const [name, first, again] of FLOODS) {
    let max = before;
    const timer = setInterval(() => max = Math.max(max, rss()), 50);
    try {
      const chunks = [Uint8Array.fromHex(first), ...Array.from({ length: WANTED / MIB / ATTACKERS }, () => again)];
      const fates = Array.from({ length: ATTACKERS }, () => writeUntilCut(fleet.masterOpts.ret_port, "DEALER", chunks));
      assert((await Promise.all(fates)).includes("disconnected"), `no peer was disconnected for ${name}`);
      await ping();
    } finally {
      clearInterval(timer);
    }
    const grown = Math.round((max - before) / MIB);
    Deno.stderr.writeSync(new TextEncoder().encode(`  ${name}: ${WANTED / MIB} MiB sent, ${grown} MiB taken\n`));
    // The amount received before the first check depends on the machine: 100 to 400 MiB.
    assert(max - before < WANTED * 0.6, `${name} took ${grown} MiB`);
    assert(/hold \d+ bytes \(max_request_memory\)/.test(fleet.log("master")));
  }
  await eventually(() => rss() - before < BOUND, { what: "the release of the memory" });
});

Deno.test("connections below the limit stay open, even if the memory has grown", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1, master: { max_request_memory: BOUND } });
  const rss = () => treeMemory(fleet.master.pid).rssKb * 1024;
  const before = rss();
  const [[, first, again]] = FLOODS;
  const chunks = [Uint8Array.fromHex(first), ...Array.from({ length: 48 }, () => again)];
  let fate: Fate | undefined;
  const written = writeUntilCut(fleet.masterOpts.ret_port, "DEALER", chunks).then((end) => fate = end);
  await eventually(() => rss() - before > 40 * MIB, { what: "the half request in the memory" });
  for (let n = 0; n < 5; n++) assertEquals((await fleet.salt("salt", "m00", "test.ping")).code, 0);
  assertEquals([fate, /hold \d+ bytes/.test(fleet.log("master"))], [undefined, false]);
  await fleet.stopMaster();
  assertEquals(await written, "disconnected");
});

Deno.test("subscriptions without end are bounded", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  /** SUBSCRIBE to topics without a common prefix. */
  function* topics() {
    for (let n = 0; n < 20_000; n++) {
      yield join(new Uint8Array([0, 251, 1]), crypto.getRandomValues(new Uint8Array(250)));
    }
  }
  const fates = Array.from({ length: 4 }, () => writeUntilCut(fleet.masterOpts.publish_port, "SUB", topics()));
  const came = await Promise.all(fates);
  assert(came.includes("disconnected"), came.join(", "));
  assertEquals((await fleet.salt("salt", "m00", "test.ping")).code, 0);
});
