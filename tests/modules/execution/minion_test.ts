import { invoke } from "#lib/plugins/call.ts";
import { map, repr, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "minion");

/** Calls `minion.restart` where the process 42 is the minion, which ends at once if it gets the signal. */
async function restart(signalled: readonly boolean[], retcode: number): Promise<string> {
  const left = [...signalled];
  const answers: Readonly<Record<string, () => Value>> = {
    "config.get": () => ["/bin/again", "-x"],
    "ps.kill_pid": () => left.shift() ?? false,
    "cmd.run_all": () => map({ pid: 7, retcode, stdout: "out", stderr: "" }),
  };
  const base = testContext({ grains: map({ pid: 42 }) });
  const context = { ...base, call: (fun: string): Promise<Value> => Promise.resolve(answers[fun]()) };
  const fun = await context.catalogue.get("minion.restart");
  if (fun === undefined) throw new Error("no minion.restart");
  return repr(await invoke(fun, { name: "minion.restart", args: [], kwargs: new Map(), context }));
}

const COMMAND = "'Using configuration minion_restart_command:', '    /bin/again', '    -x'";

Deno.test("minion.restart ends the minion and runs the command of minion_restart_command", async () => {
  assertEquals(
    await restart([true, false], 0),
    "{'killed': 42, 'restart': {'stdout': 'out', 'stderr': ''}, 'service_restart': {}, 'retcode': 0, " +
      `'comment': [${COMMAND}]}`,
  );
  assertEquals(
    await restart([true, false], 3),
    "{'killed': 42, 'restart': {'stdout': 'out', 'stderr': ''}, 'service_restart': {}, 'retcode': 3, " +
      `'comment': [${COMMAND}, 'Restart failed']}`,
  );
});

Deno.test("minion.restart starts nothing if the minion could not be ended", async () => {
  assertEquals(
    await restart([false], 0),
    "{'killed': None, 'restart': {}, 'service_restart': {}, 'retcode': 1, " +
      `'comment': [${COMMAND}, 'ps.kill_pid failed', 'Kill failed - not restarting']}`,
  );
});

Deno.test("minion.kill says that a minion does not end in time", async () => {
  const base = testContext({ grains: map({ pid: 42 }) });
  const context = { ...base, call: (): Promise<Value> => Promise.resolve(true) };
  const kill = await context.catalogue.get("minion.kill");
  if (kill === undefined) throw new Error("no minion.kill");
  assertEquals(
    repr(await invoke(kill, { name: "minion.kill", args: [0], kwargs: new Map(), context })),
    "{'killed': None, 'retcode': 75, 'comment': ['Timed out waiting for minion to exit']}",
  );
});
