import { UserTurns } from "#lib/master/functions/user_turns.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** Starts all in so many places, each for some time; gives their names in the order of their start. */
function startAll(turns: UserTurns<string>, places: number, msOf: (name: string) => number): string[] {
  const running: { readonly name: string; readonly sinceMs: number; readonly untilMs: number }[] = [];
  const started: string[] = [];
  for (let nowMs = 0;;) {
    while (running.length < places) {
      const name = turns.start(nowMs);
      if (name === undefined) break;
      started.push(name);
      running.push({ name, sinceMs: nowMs, untilMs: nowMs + msOf(name) });
    }
    running.sort((a, b) => a.untilMs - b.untilMs);
    const ended = running.shift();
    if (ended === undefined) return started;
    nowMs = ended.untilMs;
    turns.end(ended.name[0], ended.untilMs - ended.sinceMs, nowMs);
  }
}

function waiting(...names: readonly string[]): UserTurns<string> {
  const turns = new UserTurns<string>();
  for (const name of names) turns.add(name[0], name);
  return turns;
}

Deno.test("a user with many functions that wait delays another by one place that becomes free", () => {
  const turns = waiting("a1", "a2", "a3", "a4", "a5", "b1", "b2");
  assertEquals([turns.size, turns.waitingOf("a"), turns.waitingOf("c")], [7, 5, 0]);
  assertEquals(startAll(turns, 2, () => 100), ["a1", "b1", "a2", "b2", "a3", "a4", "a5"]);
  assertEquals(turns.size, 0);
});

Deno.test("whose functions are long has a turn less often", () => {
  const turns = waiting("a1", "a2", "a3", "b1", "b2", "b3", "b4");
  assertEquals(startAll(turns, 1, (name) => name.startsWith("a") ? 300 : 100), [
    "a1",
    "b1",
    "b2",
    "b3",
    "a2",
    "b4",
    "a3",
  ]);
});

Deno.test("what was used long ago counts less, and all that wait can be taken", () => {
  const turns = waiting("a1", "b1");
  turns.end("a", 10_000, 0);
  turns.end("b", 1_000, 600_000);
  assertEquals(turns.start(600_000), "a1");
  turns.add("c", "c1");
  assertEquals([turns.clear(), turns.size, turns.start(600_000)], [["b1", "c1"], 0, undefined]);
});

Deno.test("of a thousand users the time that they used is remembered, of more that of the last thousand", () => {
  for (const [others, first] of [[999, "b1"], [1_000, "a1"]] as const) {
    const turns = waiting("a1", "b1");
    turns.end("a", 10_000, 0);
    for (let n = 1; n < others; n++) turns.end(`user${n}`, 1, 0);
    turns.end("b", 1_000, 0);
    assertEquals(turns.start(0), first, `${others} other users`);
  }
});
