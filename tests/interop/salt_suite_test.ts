/**
 * Salt's own functional tests judge our `salt-call`: what salt_suite/tests.json lists must pass, and the list only grows.
 * @module
 */

import { assertEquals } from "../support/assert.ts";
import { OURS } from "./salts.ts";
import { type Part, PARTS, runPart, saltSuite, type Suite, type TestOutcome } from "./salt_suite.ts";
import { MUST_PASS, readRecord, TO_DO } from "./salt_suite_record.ts";

/** How many of the tests of a part fail, when a busy machine is not what they fail for. */
const AGAIN = 10;

/** The sources, or with `SALT_DIST` the executable in that directory: it starts in a third of the time. */
const DIST = Deno.env.get("SALT_DIST");
const SALT_CALL = DIST ? [`${DIST}/salt-call`] : OURS.command("salt-call");

const suite = await saltSuite();
if ("missing" in suite) {
  Deno.test({ name: `Salt's own tests judge salt-call (skipped: ${suite.missing})`, ignore: true, fn() {} });
} else {
  for (const part of PARTS) {
    Deno.test(`Salt's own tests of ${part.name} judge salt-call`, (t) => judge(t, suite, part));
  }
}

async function judge(t: Deno.TestContext, suite: Suite, part: Part): Promise<void> {
  const record = readRecord();
  const outcomes = await againWhatFailed(
    suite,
    part,
    await runPart(suite, part, { saltCall: SALT_CALL }),
  );
  const known = (state: string) => outcomes.filter(({ id }) => record[id] === state);
  const passes = ({ outcome }: TestOutcome) => outcome === "passed";
  const must = known(MUST_PASS);
  const fresh = known(TO_DO).filter(passes);
  const able = must.length + known(TO_DO).length;
  const listed = Object.keys(record).filter((id) => part.paths.some((path) => id.startsWith(path)));
  assertEquals(outcomes.map(({ id }) => id), listed.sort(), "the tests are not those that tests.json knows");
  const failed = must.filter((test) => !passes(test));
  const passed = must.length - failed.length + fresh.length;
  // Figures are seen in a step's name alone: what a test writes is not.
  const news = fresh.length === 0 ? "" : `; salt_suite_record.ts lists ${fresh.map(({ id }) => id).join(", ")}`;
  await t.step(`${passed} of ${outcomes.length} pass; Python's own salt-call: ${able}${news}`, () => {
    assertEquals(failed.length, 0, failed.map(({ id, outcome, why = "" }) => `${outcome}: ${id}\n${why}`).join("\n\n"));
  });
}

/** Runs listed tests that failed once more, one after the other: some wait for times. */
async function againWhatFailed(suite: Suite, part: Part, outcomes: readonly TestOutcome[]): Promise<TestOutcome[]> {
  const record = readRecord();
  const failed = outcomes.filter(({ id, outcome }) => record[id] === MUST_PASS && outcome !== "passed").map(({ id }) =>
    id
  );
  if (failed.length === 0 || failed.length > AGAIN) return [...outcomes];
  const again = await runPart(suite, part, { saltCall: SALT_CALL, only: failed, beside: 1 });
  return outcomes.map((first) => again.find(({ id }) => id === first.id) ?? first);
}
