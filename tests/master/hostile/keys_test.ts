/**
 * Attacks on a running master with hostile map keys: real processes, without a minion key or a sign-in.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { collidingDigits, collidingFloats, collidingTexts } from "#tests/fuzz/colliding_keys.ts";
import { Dict } from "#lib/values/dict.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { equals, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

/** Far more than the cost of honest requests of this size, and far less than a successful attack: a minute each. */
const MAX_CPU_S = 10;
const MAX_WAIT_MS = 240_000;
const WORKERS = 2;
/** A refused request gets no answer while those before it have taken too much time, on a slow machine for seconds. */
const TRIES = 8;

function keyed(keys: readonly Value[]): ValueMap {
  return new Dict(keys.map((key) => [key, 0]));
}

const ATTACKS: readonly (readonly [name: string, frame: () => Uint8Array])[] = [
  [
    "colliding floats for fields",
    () => encode(map({ enc: "clear", version: 3, load: keyed(collidingFloats(100_000)) }), "wire"),
  ],
  ["colliding numbers as text in a field", () => clearRequest(map({ cmd: "ping", x: keyed(collidingDigits(65_000)) }))],
  ["colliding numbers as text for fields", () => encode(keyed(collidingDigits(65_000)), "wire")],
  ["colliding long texts", () => clearRequest(map({ cmd: "ping", x: keyed(collidingTexts(4_000)) }))],
];

/** Processor time of a process and all its threads, in seconds. */
function cpuSeconds(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * Sends a request.
 * @returns The reply.
 */
async function ask(fleet: ProcessFleet, frame: Uint8Array, timeoutMs: number, tries = 1): Promise<Value> {
  using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
  return decode(await channel.request(frame, { timeoutMs, tries }), "wire");
}

const PING = map({ cmd: "ping" });

Deno.test("maps with colliding keys from an unknown peer block no MWorker: the next ping is answered at once", async (t) => {
  await using fleet = await ProcessFleet.start({ minions: 1, master: { worker_threads: WORKERS } });
  for (const [name, make] of ATTACKS) {
    await t.step(name, async () => {
      const frame = make();
      const before = cpuSeconds(fleet.master.pid);
      const attacks = Array.from({ length: WORKERS }, () => ask(fleet, frame, MAX_WAIT_MS));
      const ran = await fleet.salt("salt", "--static", "--out=json", "*", "test.ping");
      const answer = await Promise.race([ask(fleet, clearRequest(PING), AT_ONCE_MS), ...attacks.map(never)]);
      await Promise.all(attacks);
      const cpu = cpuSeconds(fleet.master.pid) - before;
      assert(cpu < MAX_CPU_S, `${cpu} s of processor time for ${WORKERS} requests of ${frame.length} bytes`);
      assert(equals(answer, PING));
      assertEquals([ran.code, JSON.parse(ran.out)], [0, { m00: true }], ran.err);
    });
  }
});

/** Rejects if `attack` rejects, and never resolves. */
async function never(attack: Promise<unknown>): Promise<never> {
  await attack;
  return await new Promise(() => {});
}

Deno.test("a request of 100 MB with any content does not crash a master with a small heap", async (t) => {
  await using fleet = await ProcessFleet.start({
    minions: 0,
    master: { worker_threads: WORKERS },
    places: {
      masterAddress: "127.0.0.1",
      masterName: "127.0.0.1",
      // The default of V8 on a host with 2 GB.
      master: ["env", "DENO_V8_FLAGS=--max-old-space-size=512"],
      minion: () => [],
    },
  });
  const size = 100_000_000;
  const wide = "é".repeat(size / 2 - 10);
  const shapes: readonly (readonly [name: string, load: () => ValueMap])[] = [
    ["a byte string for a key", () => map({ cmd: "ping" }).set(new Uint8Array(size).fill(0xff), 1)],
    [
      "a byte string for a key of a field",
      () => map({ cmd: "ping", x: new Map([[new Uint8Array(size).fill(0xff), 1]]) }),
    ],
    ["a text for a key", () => map({ cmd: "ping", ["x".repeat(size)]: 1 })],
    ["a byte string", () => map({ cmd: "ping", x: new Uint8Array(size).fill(0xff) })],
    ["a text", () => map({ cmd: "ping", x: "x".repeat(size) })],
    ["a text that is not ASCII", () => map({ cmd: "ping", x: wide })],
    ["a text for a command", () => map({ cmd: "x".repeat(size) })],
    ["a text for an id", () => map({ cmd: "_auth", nonce: "n", pub: "x", id: "x".repeat(size) })],
    ["a text for a public key", () => map({ cmd: "_auth", nonce: "n", id: "x", pub: "x".repeat(size) })],
    ["a token", () => map({ cmd: "_auth", nonce: "n", id: "x", pub: "x", token: wide })],
  ];
  for (const [name, load] of shapes) {
    await t.step(name, async () => {
      const frame = encode(map({ enc: "clear", version: 3, load: load() }), "wire");
      await Promise.all(Array.from({ length: WORKERS }, () => ask(fleet, frame, MAX_WAIT_MS / TRIES, TRIES)));
      assert(equals(await ask(fleet, clearRequest(PING), AT_ONCE_MS), PING));
    });
  }
});
