import { CommandNotFoundError } from "#lib/errors.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState, scriptedState, throwing } from "#tests/support/calls/state_call.ts";

testRecordedCases("states", "virtualenv");

Deno.test("virtualenv.manage is virtualenv.managed", async () => {
  const name = "/nonexistent/environment";
  for (const fun of ["virtualenv.manage", "virtualenv.managed"]) {
    const result = await callState(fun, { name }, { test: true });
    assertEquals([result.get("result"), result.get("comment")], [null, `Virtualenv ${name} is set to be created`]);
  }
});

Deno.test("virtualenv.managed: a host without the program makes no environment, and says so", async () => {
  const missing = throwing(new CommandNotFoundError("virtualenv binary not found"));
  const given = await scriptedState("virtualenv.managed", { name: "/nonexistent/environment" }, {
    "virtualenv.create": missing,
  });
  const text = "Failed to create virtualenv: virtualenv binary not found";
  assertEquals([given.result, given.comment, given.changes], [false, text, new Map()]);
});

Deno.test("virtualenv.managed: the path of an environment may have blanks and quotes", async () => {
  const name = "/nonexistent/the team's env";
  const given = await scriptedState("virtualenv.managed", { name }, {
    "virtualenv.create": new Map([["retcode", 0]]),
    "cmd.run_stderr": ([line]) => shlexSplit(String(line)).join(),
  });
  assertEquals([given.result, given.changes], [true, map({ new: `${name}/bin/python,-V` })]);
});
