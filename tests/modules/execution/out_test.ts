import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "out");

Deno.test("out.html_format shows what data has of HTML", async () => {
  assertEquals(
    await resultOrError(testContext(), "out.html_format", [new Map([["a", "<b> & c"]])]),
    "a:<br />&nbsp;&nbsp;&nbsp;&nbsp;&lt;b&gt;&nbsp;&amp;&nbsp;c",
  );
});

Deno.test("out.* take the minion's options, refuse those that are none, and tell of an unknown outputter", async () => {
  const context = testContext({ opts: testOpts({ "out.table.width": 2, output: "table" }) });
  const table = ["---------", "| k | v |", "---------"].map((line) => `    ${line}`).join("\n");
  assertEquals(await resultOrError(context, "out.string_format", [[["k", "v"]]]), table);
  const bad = await resultOrError(context, "out.string_format", [1], { opts: new Map([["out.table.width", "wide"]]) });
  assertEquals(bad, "out.table.width: must be an integer, not 'wide' (str)");
  const plain = testContext();
  assertEquals(await resultOrError(plain, "out.string_format", [1], { out: "tabel" }), "1");
  assertEquals(plain.logged, ["error: Invalid outputter tabel specified, fall back to nested; did you mean table?"]);
});
