import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

Deno.test("log.* write a line of their level to the minion's log", async () => {
  const context = testContext();
  for (const level of ["debug", "info", "warning", "error", "critical", "exception"]) {
    assertEquals(await context.call(`log.${level}`, [`of ${level}`]), true);
  }
  assertEquals(await context.call("log.info", [5]), true);
  assertEquals(context.logged, [
    "debug: of debug",
    "info: of info",
    "warning: of warning",
    "error: of error",
    "error: of critical",
    "error: of exception",
    "info: 5",
  ]);
});
