import { assertEquals } from "#tests/support/assert.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { map } from "#lib/values/value.ts";
import { scriptedState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "supervisord");

Deno.test("supervisord.running and mod_watch: a host without the module is named; a change restarts what runs", async () => {
  const catalogue = { ...loadCatalogue(), get: () => Promise.resolve(undefined) };
  for (const fun of ["running", "mod_watch"]) {
    const none = await scriptedState(`supervisord.${fun}`, { name: "web" }, {}, { job: testContext({ catalogue }) });
    const text = "Supervisord module not activated. Do you need to install supervisord?";
    assertEquals([none.result, none.comment, none.calls], [false, text, []]);
  }
  const answers = {
    "supervisord.status": () => map({ web: { state: "RUNNING" } }),
    "supervisord.restart": "web: started",
  };
  const watched = await scriptedState("supervisord.mod_watch", { name: "web", sfun: "running" }, answers);
  assertEquals([watched.result, watched.changes], [true, map({ web: "Restarting service: web" })]);
});
