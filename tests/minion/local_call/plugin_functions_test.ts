/** Execution functions that plugins in Python call on a minion, whose masters a function names. */

import { NoMasterError, SignInError } from "#lib/errors.ts";
import { PluginFunctions } from "#lib/minion/local_call/plugin_functions.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("master_type: func: the function that names the masters is called without one, also if it would ask one", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({
      root_dir: root,
      cachedir: `${root}/cache`,
      extension_modules: `${root}/ext`,
      master_type: "func",
    });
    const open = (fun: string) =>
      PluginFunctions.open({
        bus: { fire: () => Promise.resolve(true), fireHere: () => Promise.resolve(true) },
        log: memoryLog().log,
        opts: { ...opts, masters: [fun] },
        values: new Map(),
        role: "minion",
        signal: new AbortController().signal,
      });
    await using functions = await open("test.ping");
    assertEquals(await functions.call("test.echo", ["x"], new Map()), "x");
    await assertRejects(
      () => functions.call("pillar.items", [], new Map()),
      SignInError,
      "True returned from test.ping is not a string",
    );
    await using asking = await open("pillar.items");
    await assertRejects(() => asking.call("pillar.items", [], new Map()), NoMasterError, "There is no master");
  }));
