/**
 * Salt's own functional tests with our `salt-call`: the tests that salt_suite/tests.json lists must pass, and the list
 * only grows.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { OURS } from "./salts.ts";
import { type Part, PARTS, runPart, saltSuite, type Suite, type TestOutcome } from "./salt_suite.ts";
import { MUST_PASS, readRecord, rerunFailed, TO_DO } from "./salt_suite_record.ts";

/** The sources, or with `SALT_DIST` the executable in that directory: it starts three times as fast. */
const DIST = Deno.env.get("SALT_DIST");
const SALT_CALL = DIST ? [`${DIST}/salt-call`] : OURS.command("salt-call");

const suite = await saltSuite();
if ("missing" in suite) {
  Deno.test({ name: `Salt's own tests with salt-call (skipped: ${suite.missing})`, ignore: true, fn() {} });
} else {
  for (const part of PARTS) {
    Deno.test(`Salt's own tests of ${part.name} with salt-call`, (t) => checkPart(t, suite, part));
  }
}

async function checkPart(t: Deno.TestContext, suite: Suite, part: Part): Promise<void> {
  const record = readRecord();
  const outcomes = await rerunFailed(await runPart(suite, part, { saltCall: SALT_CALL }), {
    record,
    again: (only) => runPart(suite, part, { saltCall: SALT_CALL, only, beside: 1 }),
  });
  const known = (state: string) => outcomes.filter(({ id }) => record[id] === state);
  const passes = ({ outcome }: TestOutcome) => outcome === "passed";
  const must = known(MUST_PASS);
  const fresh = known(TO_DO).filter(passes);
  const able = must.length + known(TO_DO).length;
  const listed = Object.keys(record).filter((id) => part.paths.some((path) => id.startsWith(path)));
  assertEquals(outcomes.map(({ id }) => id), listed.sort(), "the tests are not those of tests.json");
  const failed = must.filter((test) => !passes(test));
  const passed = must.length - failed.length + fresh.length;
  // The figures are in the step's name: the output of a test is not shown.
  const added = fresh.length === 0 ? "" : `; salt_suite_record.ts lists ${fresh.map(({ id }) => id).join(", ")}`;
  await t.step(`${passed} of ${outcomes.length} pass; Python's own salt-call: ${able}${added}`, () => {
    assertEquals(failed.length, 0, failed.map(({ id, outcome, why = "" }) => `${outcome}: ${id}\n${why}`).join("\n\n"));
  });
}
