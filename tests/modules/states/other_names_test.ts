/**
 * State functions that are other names of functions with recorded results, and the function that the runtime calls for
 * check_cmd.
 */

import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { callState } from "#tests/support/calls/state_call.ts";

Deno.test("virtualenv.manage is virtualenv.managed", async () => {
  const name = "/nonexistent/environment";
  for (const fun of ["virtualenv.manage", "virtualenv.managed"]) {
    const result = await callState(fun, { name }, { test: true });
    assertEquals([result.get("result"), result.get("comment")], [null, `Virtualenv ${name} is set to be created`]);
  }
});

Deno.test("file.mod_run_check_cmd runs a command with a path as last argument", async () => {
  const filename = await Deno.makeTempFile({ prefix: "check_cmd_" });
  try {
    const passed = await callState("file.mod_run_check_cmd", { cmd: "test -f", filename });
    assertEquals([passed.get("result"), passed.get("changes")], [true, map({})]);
    const failed = await callState("file.mod_run_check_cmd", { cmd: "test -d", filename });
    assertEquals([failed.get("result"), failed.get("comment")], [false, "check_cmd execution failed"]);
  } finally {
    await Deno.remove(filename);
  }
});
