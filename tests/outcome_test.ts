import { decideOutcome, type Outcome, type OutcomeFacts, OUTCOMES } from "../lib/outcome.ts";
import { assertEquals } from "./assert.ts";

const HERE: OutcomeFacts = { accepted: true, present: true };

const CASES: readonly (readonly [string, Partial<OutcomeFacts>, Outcome])[] = [
  ["a good return", { returned: "returned" }, "returned"],
  ["a bad return", { returned: "failed" }, "failed"],
  ["a return of an interrupted job", { returned: "interrupted" }, "interrupted"],
  ["a return of a minion that has left", { returned: "returned", present: false, acknowledged: "running" }, "returned"],
  ["a return of a minion whose key is gone", { returned: "returned", accepted: false }, "returned"],
  ["a begun job", { acknowledged: "running" }, "running"],
  ["a job in a queue", { acknowledged: "received" }, "received"],
  ["a begun job of a minion that has left", { acknowledged: "running", present: false }, "not connected"],
  ["no sign of a connected minion", {}, "not received"],
  ["no sign of a minion that is away", { present: false }, "not connected"],
  ["an id without a key", { accepted: false, present: false }, "no such minion"],
];

for (const [what, facts, outcome] of CASES) {
  Deno.test(`the outcome of ${what} is "${outcome}"`, () =>
    assertEquals(decideOutcome({ ...HERE, ...facts }), outcome));
}

Deno.test("every outcome has a case", () => {
  assertEquals([...new Set(CASES.map(([, , outcome]) => outcome))].sort(), [...OUTCOMES].sort());
});
