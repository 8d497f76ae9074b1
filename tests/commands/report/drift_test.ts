import { driftText } from "#lib/commands/report/drift.ts";
import { toValue } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const OK = { result: true, changes: {}, comment: "", __run_num__: 0 };
const WOULD = { ...OK, result: null };
const CHANGED = { ...OK, changes: { diff: "x" } };
const FAILED = { ...OK, result: false, changes: { pid: 1 } };

/** The return of a state run with these states. */
function run(id: string, ...states: unknown[]) {
  return { id, return: toValue(Object.fromEntries(states.map((state, i) => [`test_|-s${i}_|-s${i}_|-nop`, state]))) };
}

const shown = (...runs: ReturnType<typeof run>[]) => driftText(runs, { color: false });

Deno.test("a run in test mode on several minions names those that would change", () => {
  assertEquals(
    shown(run("web2", OK, WOULD), run("web1", WOULD, WOULD, OK), run("db1", OK)),
    "2 of 3 would change: web1 (2 states), web2 (1 state)\n",
  );
});

Deno.test("a run names the minions that have changed and those that failed", () => {
  assertEquals(
    shown(run("a", CHANGED), run("b", CHANGED, FAILED), run("c", FAILED)),
    "2 of 3 changed: a (1 state), b (1 state)\n2 of 3 failed: b (1 state), c (1 state)\n",
  );
});

Deno.test("a run without changes reports that", () => {
  assertEquals(shown(run("a", OK), run("b", OK)), "None of 2 changed\n");
});

Deno.test("the run of one minion, and a return that is no state run, have no line", () => {
  assertEquals(shown(run("a", WOULD)), "");
  assertEquals(driftText([{ id: "a", return: true }, { id: "b", return: ["an error"] }], { color: false }), "");
  assertEquals(shown(run("a", WOULD), { id: "b", return: "text" }, run("c")), "");
});

Deno.test("many minions are counted, and names are sanitized", () => {
  const runs = Array.from({ length: 12 }, (_, i) => run(`web${i}\x1b[31m`.padStart(10), WOULD));
  const text = shown(...runs);
  assertEquals(text.includes("\x1b"), false);
  assertEquals(text.endsWith(" and 2 more\n"), true);
});

Deno.test("the lines are coloured by kind", () => {
  const text = driftText([run("a", FAILED), run("b", OK)], { color: true });
  assertEquals(text, "\x1b[0;31m1 of 2 failed: a (1 state)\x1b[0;0m\n");
});
