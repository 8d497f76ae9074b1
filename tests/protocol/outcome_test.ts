import {
  BEYOND,
  decideOutcome,
  hasReturned,
  type Outcome,
  type OutcomeFacts,
  outcomeOfReturn,
  OUTCOMES,
  silenceText,
} from "#lib/protocol/outcome.ts";
import { assertEquals } from "#tests/support/assert.ts";

const HERE: OutcomeFacts = { accepted: true, present: true };

const CASES: readonly (readonly [string, Partial<OutcomeFacts>, Outcome])[] = [
  ["a good return", { returned: "returned" }, "returned"],
  ["a bad return", { returned: "failed" }, "failed"],
  ["a return of an interrupted job", { returned: "interrupted" }, "interrupted"],
  ["a return of a job that its minion refused", { returned: "refused" }, "refused"],
  ["a job whose wait was ended", { returned: "cancelled", acknowledged: undefined }, "cancelled"],
  ["a return of a minion that has left", { returned: "returned", present: false, acknowledged: "running" }, "returned"],
  ["a return of a minion whose key is gone", { returned: "returned", accepted: false }, "returned"],
  ["a begun job", { acknowledged: "running" }, "running"],
  ["a job in a queue", { acknowledged: "received" }, "received"],
  ["a begun job of a minion that has left", { acknowledged: "running", present: false }, "not connected"],
  ["no sign of a connected minion", {}, "not received"],
  ["no sign of a minion that is away", { present: false }, "not connected"],
  ["no sign of a minion of a master that no job reaches", { beyond: true }, BEYOND],
  ["a begun job on a minion of such a master", { beyond: true, acknowledged: "running" }, "running"],
  ["an id without a key", { accepted: false, present: false }, "no such minion"],
];

for (const [what, facts, outcome] of CASES) {
  Deno.test(`the outcome of ${what} is "${outcome}"`, () =>
    assertEquals(decideOutcome({ ...HERE, ...facts }), outcome));
}

Deno.test("every outcome has a case", () => {
  assertEquals([...new Set(CASES.map(([, , outcome]) => outcome))].sort(), [...OUTCOMES].sort());
});

Deno.test("a return is a success if its code is 0 or missing; the return of a minion that ended is reported as such", () => {
  const outcomes = [{}, { retcode: 0 }, { retcode: 1 }, { retcode: -9 }, { retcode: [0, 2] }, { retcode: "x" }]
    .map(outcomeOfReturn);
  assertEquals(outcomes, ["returned", "returned", "failed", "failed", "failed", "failed"]);
  assertEquals([0, 1].map((retcode) => outcomeOfReturn({ retcode, interrupted: true })), [
    "interrupted",
    "interrupted",
  ]);
  assertEquals(outcomeOfReturn({ retcode: 0, interrupted: false }), "returned");
});

Deno.test("a minion has returned or not, and Salt's words report why it has not", () => {
  assertEquals(OUTCOMES.filter(hasReturned), ["returned", "failed", "interrupted", "refused", "cancelled"]);
  assertEquals(silenceText("not received"), "Minion did not return. [No response]");
  assertEquals(silenceText("not connected"), "Minion did not return. [Not connected]");
});
