/** Rounds in which returners remove old jobs: one that fails, one that hangs. */

import { JobCleaning } from "#lib/master/event_return/job_cleaning.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

Deno.test("a returner that fails is named, and stops no other; one that hangs is asked again when it has ended", async () => {
  const { log, lines } = memoryLog(), asked: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const cleaning = new JobCleaning({
    names: ["broken", "slow"],
    everyMs: 10,
    log,
    clean: (name) => {
      asked.push(name);
      return name === "broken" ? Promise.reject(new Error("no server")) : hanging.promise;
    },
  });
  try {
    await eventually(() => asked.length === 2, { what: "the first round" });
    await new Promise((resolve) => setTimeout(resolve, 60));
    assertEquals(asked, ["broken", "slow"]);
    assertEquals(lines, ["ERROR The returner broken could not remove old jobs: no server"]);
    hanging.resolve();
    await eventually(() => asked.length >= 4, { what: "the second round" });
    assertEquals(asked.slice(2, 4), ["broken", "slow"]);
  } finally {
    cleaning.close();
  }
});
