import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "acme");

const CASES: readonly (readonly [result: Value, after: string, changes: Readonly<Record<string, unknown>>])[] = [
  [true, "2", { old: { until: { day: "1" } }, new: { until: { day: "2" } } }],
  [null, "1", {}],
  [false, "1", {}],
];
for (const [result, after, changes] of CASES) {
  Deno.test(`acme.cert shows what differs in the certificate after certbot's result ${result}`, async () => {
    const days = ["1", after];
    const answers: Readonly<Record<string, () => Value>> = {
      "acme.has": () => true,
      "acme.needs_renewal": () => true,
      "acme.info": () => map({ name: "a", until: { day: days.shift(), hour: "3" } }),
      "acme.cert": () => map({ result, comment: "done" }),
    };
    const state = { call: (fun: string): Promise<Value> => Promise.resolve(answers[fun]()) };
    const outcome = await callState("acme.cert", { name: "a" }, { state });
    assertEquals([outcome.get("result"), outcome.get("changes")], [result, map(changes)]);
  });
}
