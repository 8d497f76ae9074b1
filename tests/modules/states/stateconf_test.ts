/** State module `stateconf`. */

import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { callState } from "#tests/support/calls/state_call.ts";

for (const fun of ["set", "context"]) {
  Deno.test(`stateconf.${fun} takes any variables and does nothing`, async () => {
    const result = await callState(`stateconf.${fun}`, { name: "params", port: 80, users: ["ann"] });
    assertEquals(result, map({ name: "params", result: true, changes: {}, comment: "" }));
  });
}
