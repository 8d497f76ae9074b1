/** A reactor that cannot be started. */

import { ReactorRuns } from "#lib/master/reactor/reactor_runs.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { testServices } from "#tests/support/fleet/services.ts";

Deno.test("a reactor that cannot be started is named in the log, and holds up no end of the master", async () => {
  using services = await testServices();
  const errors: string[] = [];
  let tries = 0;
  const runs = new ReactorRuns({
    opts: services.opts,
    log: { error: (text) => void errors.push(String(text)) },
    reactor: () => {
      tries++;
      throw new Error("the event log cannot be read");
    },
  });
  await eventually(() => errors.length === 1, { what: "the first try" });
  assertEquals(runs.describe(), "starting");
  await runs.close();
  assertEquals(errors, ["The reactor cannot be started, and is tried again: the event log cannot be read"]);
  assertEquals(tries, 1);
});
