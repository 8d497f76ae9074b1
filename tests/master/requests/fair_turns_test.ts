/**
 * One accepted minion whose returns of megabytes keep all MWorkers busy, over many connections, or a stranger whose
 * requests are costly to read and refused: jobs of an operator on another minion are answered all the same. A real
 * master, an honest minion and the hostile one as processes; the stranger is here.
 * @module
 */

import { PrivateKey } from "#lib/crypto/rsa.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";
import { median } from "#tests/bench/harness/statistics.ts";
import { answers } from "#tests/chaos/harness/pings.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Peer } from "#tests/support/fleet/peer.ts";
import type { ReturnFlood } from "#tests/bench/fleets/return_flood_program.ts";
import { envelope } from "#tests/support/fleet/scripted_minion.ts";
import { TEST_KEY_BITS } from "#tests/support/fleet/scripted_master.ts";

const HOSTILE = "hostile";
/** Its connections, and how long each return takes, in milliseconds. */
const CONNECTIONS = 12, COST_MS = 150;
/** The stranger's connections, and lists in each of its requests, of which MessagePack takes two bytes. */
const STRANGE_CONNECTIONS = 8, LISTS = 40_000;
/** Pings of the operator, after those in which the burst is used up. */
const PINGS = 15;
/** After this time no further ping is sent, in milliseconds. */
const ENOUGH_MS = 30_000;
/**
 * Without turns a ping takes ten seconds beside returns of 8 MB or the stranger, in peace a few milliseconds. On a busy
 * machine both are slower.
 */
const BOUND_MS = 3_000, BOUND_TIMES = 20;

function startFlood(flood: ReturnFlood) {
  const program = decodeURIComponent(new URL("../../bench/fleets/return_flood_program.ts", import.meta.url).pathname);
  const args = [...DENO_RUN, program, JSON.stringify(flood)];
  return new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
}

async function ping(fleet: ProcessFleet): Promise<number> {
  const begunMs = performance.now();
  assertEquals(await answers(fleet, "m00", 1, 60_000), 1);
  return performance.now() - begunMs;
}

/** Pings beside a flood, of which `sent` tells how much was sent: they are answered, and the flood goes on. */
async function assertAnswered(fleet: ProcessFleet, inPeace: readonly number[], sent: () => number): Promise<void> {
  const before = sent(), times: number[] = [];
  const untilMs = performance.now() + ENOUGH_MS;
  while (times.length < PINGS && performance.now() < untilMs) times.push(await ping(fleet));
  const line = `in peace ${Math.round(median(inPeace))} ms, beside the flood ${Math.round(median(times))} ms`;
  assert(median(times) < Math.max(BOUND_MS, BOUND_TIMES * median(inPeace)), line);
  await eventually(() => sent() > before, { what: "the flood to go on", withinMs: 30_000 });
}

Deno.test("a minion whose returns take all processors waits for its turn, and another's pings are answered", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  const { masterOpts } = fleet;
  using client = await fleet.client();
  const { jid } = await client.publish({ tgt: "m00", tgtType: "glob", fun: "test.ping", arg: [] });
  const inPeace: number[] = [];
  for (let n = 0; n < PINGS; n++) inPeace.push(await ping(fleet));
  const key = await PrivateKey.generate(TEST_KEY_BITS);
  new KeyStore(masterOpts.pki_dir).put(HOSTILE, "accepted", key.publicKey.pem);
  const flood = { directory: fleet.root, port: masterOpts.ret_port, connections: CONNECTIONS, jid, costMs: COST_MS };
  const child = startFlood({ id: HOSTILE, keyPem: key.pem, ...flood });
  let sent = 0;
  const counting = child.stdout.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({ write: (text) => void (sent += text.split("\n").length - 1) }),
  );
  try {
    await eventually(() => /hostile sends too much: .* requests are answered late/.test(fleet.log("master")), {
      what: "late answers",
    });
    await assertAnswered(fleet, inPeace, () => sent);
  } finally {
    await child.stdin.close();
    await counting;
    assertEquals(await child.status.then(({ code }) => code), 0);
  }
});

Deno.test("requests that are refused wait unread after a while, and an operator's pings are answered", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  const inPeace: number[] = [];
  for (let n = 0; n < PINGS; n++) inPeace.push(await ping(fleet));
  // Not a field that a publish needs: the master finds that out when it has read all.
  const load = { cmd: "publish", lists: Array.from({ length: LISTS }, () => [1]) };
  const request = envelope({ enc: "clear", version: 3, load });
  const sockets = Array.from({ length: STRANGE_CONNECTIONS }, () => {
    const socket = Peer.dealer({ highWaterMark: 10, receiveHighWaterMark: 0, lingerMs: 0 });
    socket.connect(tcpAddress("127.0.0.1", fleet.masterOpts.ret_port));
    return socket;
  });
  let sent = 0, isOver = false;
  const flooding = sockets.map(async (socket) => {
    while (!isOver) if (await socket.send([new Uint8Array(), request], 500)) sent++;
  });
  try {
    await eventually(() => /Requests that are refused take too much time/.test(fleet.log("master")), {
      what: "requests that wait",
    });
    await assertAnswered(fleet, inPeace, () => sent);
  } finally {
    isOver = true;
    await Promise.all(flooding);
    for (const socket of sockets) socket.close();
  }
});
