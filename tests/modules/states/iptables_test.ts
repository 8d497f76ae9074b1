import { InvocationError } from "#lib/errors.ts";
import { assertRejects } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";

testRecordedCases("states", "iptables");

Deno.test("a rule of a firewall needs its chain", async () => {
  const fun = "iptables.append";
  await assertRejects(
    () => callState(fun, { name: "r", table: "filter" }),
    InvocationError,
    `${fun} needs the argument 'chain'`,
  );
});
