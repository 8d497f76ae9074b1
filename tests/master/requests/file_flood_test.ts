/**
 * A minion that requests more files than it reads, on a running master: few of the replies are queued, and other
 * minions are served meanwhile.
 * @module
 */
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { isMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, fleetTest } from "#tests/support/fleet/fleet.ts";
import { Peer } from "#tests/support/fleet/peer.ts";
import { ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";

const PIECE = 1 << 18;
const ASKED = 1_200;
/** More than the buffers between two sockets of this host and the master's queue hold. */
const MAX_KEPT = 400;
const TIMEOUTS = { timeoutMs: 60_000, tries: 1 };

fleetTest("of the pieces that a minion asks for and does not take, few are kept, and others get theirs", {
  master: { file_buffer_size: PIECE, log_level: "debug" },
}, async (fleet) => {
  Deno.mkdirSync(`${fleet.root}/srv`, { recursive: true });
  Deno.writeFileSync(`${fleet.root}/srv/large`, new Uint8Array(2 * PIECE).fill(7));
  const address = `tcp://127.0.0.1:${fleet.masterOpts.ret_port}`;
  using channel = new RequestChannel(address);
  const ask = (frame: Uint8Array) => channel.request(frame, TIMEOUTS);
  const piece = { cmd: "_serve_file", path: "large", saltenv: "base", loc: 0 };

  const greedy = new ScriptedMinion("greedy", await testKey("greedy"), ask);
  await greedy.signIn();
  using flood = Peer.dealer({ highWaterMark: 0, receiveHighWaterMark: 1 });
  flood.connect(address);
  const request = greedy.seal(piece);
  for (let i = 0; i < ASKED; i++) await flood.send([new Uint8Array(), request], -1);

  const honest = new ScriptedMinion("honest", await testKey("honest"), ask);
  await honest.signIn();
  for (let i = 0; i < 20; i++) {
    const answer = await honest.request(piece);
    assert(isMap(answer));
    assertEquals(answer.get("dest"), "large");
  }
  const served = () => fleet.logs.filter((line) => line.includes("_serve_file from greedy")).length;
  await eventually(() => served() === ASKED, {
    what: `all ${ASKED} requests to be served`,
    withinMs: 180_000,
  });
  // The honest minion's request is answered after those.
  await honest.request(piece);
  let taken = 0;
  while (await flood.receive(500) !== undefined) taken++;
  assert(taken > 0 && taken < MAX_KEPT, `${taken} answers were kept`);
});
