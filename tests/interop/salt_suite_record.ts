/**
 * The record of each test of Salt's suite (salt_suite.ts), in salt_suite/tests.json: whether the test can be used for a
 * `salt-call` at all, and whether ours must pass it.
 *
 * `deno run -A tests/interop/salt_suite_record.ts` runs all tests against ours and lists those that pass now: the list
 * of tests that must pass only grows. With `--python` the tests run against Python's `salt-call`. A test that does not
 * pass there gets the end of its output in place of a reason, which somebody must then write.
 * @module
 */

import { OURS } from "./salts.ts";
import { pythonSalt } from "./python_salt.ts";
import { PARTS, runPart, saltSuite, SUITE_SALT, type TestOutcome } from "./salt_suite.ts";

/** A test that our `salt-call` must pass. */
export const MUST_PASS = "passes";
/** A test that Python's `salt-call` passes, and ours does not pass yet. */
export const TO_DO = "to do";

/**
 * Why a test that Python's `salt-call` passes cannot be used for ours: `its state module is Python`, `its bound of time
 * is …`.
 */
const CANNOT_JUDGE = /^its /;

/**
 * By the test's id {@linkcode MUST_PASS}, {@linkcode TO_DO}, or why it cannot be used for ours: Python's own
 * `salt-call` does not pass it this way, it contains Python code, or its time limit is too short to be reliable.
 */
export type SuiteRecord = Readonly<Record<string, string>>;

const PATH = decodeURIComponent(new URL("./salt_suite/tests.json", import.meta.url).pathname);

/** The committed record. */
export function readRecord(): SuiteRecord {
  return JSON.parse(Deno.readTextFileSync(PATH));
}

/** Maximum number of failed tests that run again; more failures cannot be the effect of a busy machine. */
const MAX_RERUNS = 10;

/**
 * Runs the tests that failed and must pass once more: some depend on time.
 * @param again Runs the tests with these ids, one after the other.
 * @returns The outcomes, with those of the second run in place of the first.
 */
export async function rerunFailed(
  outcomes: readonly TestOutcome[],
  { record, again }: {
    readonly record: SuiteRecord;
    readonly again: (ids: readonly string[]) => Promise<readonly TestOutcome[]>;
  },
): Promise<readonly TestOutcome[]> {
  const failed = outcomes.filter(({ id, outcome }) => record[id] === MUST_PASS && outcome !== "passed");
  if (failed.length === 0 || failed.length > MAX_RERUNS) return outcomes;
  const second = await again(failed.map(({ id }) => id));
  return outcomes.map((first) => second.find(({ id }) => id === first.id) ?? first);
}

/** The record after a run of our `salt-call`: a {@linkcode TO_DO} test that passes becomes {@linkcode MUST_PASS}. */
function withNewPasses(record: SuiteRecord, outcomes: readonly TestOutcome[]): SuiteRecord {
  const passed = new Set(outcomes.filter(({ outcome }) => outcome === "passed").map(({ id }) => id));
  return Object.fromEntries(
    Object.entries(record).map(([id, known]) => [id, known === TO_DO && passed.has(id) ? MUST_PASS : known]),
  );
}

/** The record after a run of Python's `salt-call`: written reasons stay. */
function withPythonOutcomes(record: SuiteRecord, outcomes: readonly TestOutcome[]): SuiteRecord {
  return Object.fromEntries(outcomes.map(({ id, outcome, why }) => {
    const known = record[id];
    if (outcome === "passed") return [id, known === MUST_PASS || CANNOT_JUDGE.test(known ?? "") ? known : TO_DO];
    if (outcome === "in-process") return [id, "calls Python's modules in its own process"];
    if (known !== undefined && known !== MUST_PASS && known !== TO_DO) return [id, known];
    return [id, `${outcome}: ${(why ?? "").trim().split("\n").at(-1)?.slice(0, 200)}`];
  }));
}

async function main(args: readonly string[]): Promise<void> {
  const suite = await saltSuite();
  if ("missing" in suite) throw new Error(suite.missing);
  const python = await pythonSalt(SUITE_SALT);
  if ("missing" in python) throw new Error(python.missing);
  const saltCall = args.includes("--python") ? [`${python.bin}/salt-call`] : OURS.command("salt-call");
  const outcomes: TestOutcome[] = [];
  for (const part of PARTS) outcomes.push(...await runPart(suite, part, { saltCall }));
  const record = (args.includes("--python") ? withPythonOutcomes : withNewPasses)(readRecord(), outcomes);
  const sorted = Object.entries(record).sort(([a], [b]) => a < b ? -1 : 1);
  Deno.writeTextFileSync(PATH, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

if (import.meta.main) await main(Deno.args);
