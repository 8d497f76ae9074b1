/** @module */
import { RefusedTurns } from "#lib/master/requests/refused_turns.ts";
import { RequestHandler } from "#lib/master/requests/request_handler.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { envelope, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { testServices } from "#tests/support/fleet/services.ts";

const LARGE = 300_000, SMALL = 1_000;

/** The turns of one of five threads on two processors: a fiftieth of it for a connection, a tenth for all. */
function turnsOf() {
  const clock = { nowMs: 1_000 }, logged: string[] = [];
  const turns = new RefusedTurns({
    threads: 5,
    processors: 2,
    now: () => clock.nowMs,
    warn: (text) => logged.push(text),
  });
  /** A request that takes so long and is refused, if it may be read at once; gives how long it waits. */
  const refuse = (connection: string, ms: number, bytes = LARGE) => {
    const turn = turns.begin(connection, bytes);
    if (turn !== undefined) return turn;
    clock.nowMs += ms;
    turns.refused(connection, ms);
    return undefined;
  };
  return { clock, logged, turns, refuse };
}

Deno.test("after some refused requests a connection's next ones wait unread, few at once, and others get no answer", () => {
  const { clock, logged, turns, refuse } = turnsOf();
  assertEquals([1, 2, 3].map(() => refuse("peer", 10)), [undefined, undefined, undefined]);
  const first = refuse("peer", 10), second = refuse("peer", 10);
  assert(first !== undefined && first !== "never" && second !== undefined && second !== "never");
  // 1,500 ms are to be made up for, of which 20 have passed; 1,000 of the connection's own are not waited for.
  assertEquals([first.waitMs, second.waitMs].map(Math.round), [480, 980]);
  assertEquals(refuse("peer", 10), "never");
  assertMatch(logged.join("\n"), /take too much time: .* late \(0 since .* not at all \(0\)/);
  first.end();
  const third = refuse("peer", 10);
  assert(third !== undefined && third !== "never");
  clock.nowMs += 60_000;
  assertEquals(turns.begin("peer", LARGE), undefined);
});

Deno.test("a request waits no longer than four seconds, however many were refused before", () => {
  const { turns } = turnsOf();
  for (let n = 0; n < 3; n++) turns.refused("peer", 10_000);
  const turn = turns.begin("peer", LARGE);
  assert(turn !== undefined && turn !== "never");
  assertEquals(turn.waitMs, 4_000);
});

Deno.test("another connection does not wait; when many are refused, only its large requests do until one is accepted", () => {
  const { turns, refuse } = turnsOf();
  for (let n = 0; n < 4; n++) refuse("peer", 10);
  assertEquals(turns.begin("honest", LARGE), undefined);
  // The first request of each connection is read.
  for (let n = 0; n < 100; n++) turns.refused(`peer${n}`, 100);
  assertEquals(turns.begin("new", SMALL), undefined);
  assert(turns.begin("new", LARGE) !== undefined);
  turns.accepted("honest");
  assertEquals(turns.begin("honest", LARGE), undefined);
});

Deno.test("what waits in a thread for all connections together is few, and has few bytes", () => {
  const { turns } = turnsOf();
  for (let n = 0; n < 100; n++) turns.refused(`peer${n}`, 100);
  const waiting = Array.from({ length: 20 }, (_, n) => turns.begin(`other${n}`, LARGE)).filter((turn) =>
    turn !== "never"
  );
  assertEquals(waiting.length, 8);
  for (const turn of waiting) turn?.end();
  assert(turns.begin("other0", 10_000_000) !== "never");
  assertEquals(turns.begin("other1", 10_000_000), "never");
});

Deno.test("small requests are read at once, however many were refused", () => {
  const { refuse } = turnsOf();
  for (let n = 0; n < 1_000; n++) assertEquals(refuse("peer", 1, SMALL), undefined);
});

Deno.test("a handler tells which requests prove nothing about their sender", async () => {
  using services = await testServices();
  const handler = new RequestHandler(services);
  let refused = 0;
  const send = async (frame: Uint8Array) => {
    const before = refused;
    await handler.handle(frame, () => refused++);
    return refused > before;
  };
  const minionOf = async (id: string) => {
    const minion = new ScriptedMinion(id, await testKey(id), (frame) => handler.handle(frame, () => refused++));
    services.auth.keys.put(id, "accepted", minion.key.publicKey.pem);
    await minion.signIn();
    return minion;
  };
  const web1 = await minionOf("web1");
  await minionOf("web2");
  assertEquals(refused, 0, "sign-ins");
  const ask = { cmd: "_master_opts" };
  const clear = (load: Record<string, unknown>) => envelope({ enc: "clear", version: 3, load });
  const [[user, key]] = services.accessKeys;
  for (
    const [name, frame, isRefused] of [
      ["a minion's request", web1.seal(ask), false],
      ["no value", Uint8Array.of(0xc1), true],
      ["a session that is not there", web1.seal(ask, { outer: { id: "web9" } }), true],
      ["the session of another", web1.seal(ask, { outer: { id: "web2" } }), true],
      ["the id of another inside", web1.seal(ask, { inner: { id: "web2" } }), true],
      ["a wrong token", web1.seal(ask, { inner: { tok: new Uint8Array(256) } }), true],
      ["no envelope", envelope({ load: {} }), true],
      ["a clear ping", clear({ cmd: "ping" }), true],
      ["an unknown command", clear({ cmd: "nothing" }), true],
      ["a user without a key", clear({ cmd: "publish", fun: "test.ping", arg: [], tgt: "*", user }), true],
      [
        "a user",
        clear({
          cmd: "publish",
          fun: "test.ping",
          arg: [],
          tgt: "web1",
          tgt_type: "glob",
          ret: "",
          jid: "",
          kwargs: {},
          key,
          user,
        }),
        false,
      ],
    ] as const
  ) assertEquals(await send(frame), isRefused, name);
});
