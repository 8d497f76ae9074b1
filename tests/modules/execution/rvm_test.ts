import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "rvm");

const FAILED = "Error encountered while downloading the RVM installer";
const CASES: readonly (readonly [retcode: number, stderr: string, answer: Value])[] = [
  [0, "", true],
  [1, "", FAILED],
  [1, "no network", `${FAILED}. stderr follows:\n\nno network`],
];
for (const [retcode, stderr, answer] of CASES) {
  Deno.test(`rvm.install with the return code ${retcode} and ${stderr || "nothing"} said`, async () => {
    const context = answeringContext({ "cmd.run_all": map({ retcode, stderr, stdout: "" }) });
    assertEquals(await resultOrError(context, "rvm.install"), answer);
  });
}

Deno.test("rvm.* refuse words that rvm would read as options", async () => {
  for (
    const [fun, args] of [["rvm.install_ruby", ["--x"]], ["rvm.gemset_create", ["2.0", "-x"]], ["rvm.do", [
      "-x",
      "y",
    ]]] as const
  ) {
    assertEquals(
      /^Invalid (ruby|gemset): /.test(String(await resultOrError(answeringContext({}), fun, [...args]))),
      true,
    );
  }
});
