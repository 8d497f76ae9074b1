/**
 * Salt's own integration tests with our master, minion and commands: those that salt_suite/integration_tests.json lists
 * as `passes` must pass. The others have the reason why they do not.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { runIntegration, writeCommands } from "./salt_integration.ts";
import { OURS } from "./salts.ts";
import { saltSuite, type Suite, type TestOutcome } from "./salt_suite.ts";
import { MUST_PASS, rerunFailed, type SuiteRecord } from "./salt_suite_record.ts";

/** The directory of the executables; without it, the sources are tested. */
const DIST = Deno.env.get("SALT_DIST");

const RECORD: SuiteRecord = JSON.parse(
  Deno.readTextFileSync(new URL("./salt_suite/integration_tests.json", import.meta.url)),
);

const suite = await saltSuite();
if ("missing" in suite) {
  Deno.test({ name: `Salt's own integration tests (skipped: ${suite.missing})`, ignore: true, fn() {} });
} else {
  Deno.test("Salt's own integration tests with our master, minion and commands", (t) =>
    withTemporaryDirectory(async (scratch) => {
      if (DIST === undefined) writeCommands(OURS, scratch);
      await checkOutcomes(t, suite, DIST === undefined ? scratch : Deno.realPathSync(DIST));
    }));
}

async function checkOutcomes(t: Deno.TestContext, suite: Suite, commands: string): Promise<void> {
  const runAll = (only: readonly string[]) => runIntegration(suite, { commands, only });
  const listed = Object.keys(RECORD).sort();
  const outcomes = await rerunFailed(await runAll(listed), { record: RECORD, again: runAll });
  assertEquals(outcomes.map(({ id }) => id), listed, "the tests are not those of integration_tests.json");
  const must = ({ id }: TestOutcome) => RECORD[id] === MUST_PASS;
  const passes = ({ outcome }: TestOutcome) => outcome === "passed";
  const passed = outcomes.filter(passes);
  const failed = outcomes.filter((test) => must(test) && !passes(test));
  const fresh = passed.filter((test) => !must(test)).map(({ id }) => id);
  // The figures are in the step's name: the output of a test is not shown.
  const added = fresh.length === 0 ? "" : `; integration_tests.json can list as "${MUST_PASS}": ${fresh.join(", ")}`;
  await t.step(`${passed.length} of ${listed.length} pass${added}`, () => {
    assertEquals(failed.length, 0, failed.map(({ id, outcome, why = "" }) => `${outcome}: ${id}\n${why}`).join("\n\n"));
  });
}
