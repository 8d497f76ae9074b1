/**
 * Reports the flaky tests of a run: tests that failed, and passed when they ran once more.
 *
 * `.ci/flaky` lists the known ones. A run may have three flaky tests, listed or not, of some 900 files, most with real
 * daemons; one that takes more than forty minutes, on a slow or busy machine, three more for each further forty. If the
 * list excused any number, it would hide flaky tests; if a run failed at the first one, people would start it again
 * until it passes.
 * @module
 */

/** The path of the list, from the root of the tree. */
export const FLAKY_LIST = ".ci/flaky";

/** Maximum number of files that may fail at first and pass alone, for each of these times that begins, in seconds. */
const FLAKY_LIMIT = 3, FLAKY_SECONDS = 2_400;

/** How many flaky tests a run may have that takes so many seconds. */
function flakyLimit(seconds: number): number {
  return FLAKY_LIMIT * Math.max(1, Math.ceil(seconds / FLAKY_SECONDS));
}

/** A line of the list: `FILE | TEST | YYYY-MM-DD | WHAT IS KNOWN`. */
export interface KnownFlaky {
  /** The path of a test file from the root of the tree, or the task that runs the test, such as `deno task chaos`. */
  readonly file: string;
  /** The test's name; `*` for the whole file, if it ended before its tests did. */
  readonly test: string;
  readonly since: string;
  readonly known: string;
}

/** A file that failed first and then passed. */
export interface FlakyRun {
  /** See {@linkcode KnownFlaky}. */
  readonly file: string;
  /** The tests that failed first; none if the file ended before its tests did. */
  readonly failures: readonly string[];
}

/**
 * Reads the list. Empty lines and lines that begin with `#` are skipped.
 * @throws {SyntaxError} If a line has another form.
 */
function parseFlakyList(text: string): KnownFlaky[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#")).map((line) => {
    const [file = "", test = "", since = "", ...rest] = line.split(" | ").map((cell) => cell.trim());
    const known = rest.join(" | ");
    if (test === "" || !/^\d{4}-\d\d-\d\d$/.test(since) || known === "") {
      throw new SyntaxError(`${FLAKY_LIST}: expected FILE | TEST | YYYY-MM-DD | WHAT IS KNOWN, found: ${line}`);
    }
    return { file, test, since, known };
  });
}

/** The list of the tree in the working directory; empty if there is no file. */
export function readFlakyList(): KnownFlaky[] {
  try {
    return parseFlakyList(Deno.readTextFileSync(FLAKY_LIST));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/**
 * The last lines about flaky tests, and the number of failures: one if there are too many flaky tests, otherwise 0.
 * @param how.ran The files, or the task, that ran: only their listed tests can have passed.
 * @param how.seconds How long the run took.
 */
export function judgeFlaky(
  { flaky, list, ran, seconds }: {
    readonly flaky: readonly FlakyRun[];
    readonly list: readonly KnownFlaky[];
    readonly ran: readonly string[];
    readonly seconds: number;
  },
): { lines: string[]; failed: number } {
  const matches = (entry: KnownFlaky, file: string, test: string) => entry.file === file && entry.test === test;
  const found = flaky.flatMap(({ file, failures }) =>
    (failures.length > 0 ? failures : ["*"]).map((test) => ({ file, test }))
  );
  const lines = found.map(({ file, test }) => {
    const entry = list.find((one) => matches(one, file, test));
    const status = entry === undefined
      ? `not in ${FLAKY_LIST}: mend it, or list it there with what is known`
      : `known since ${entry.since}: ${entry.known}`;
    return `flaky: ${file}: ${test}: failed at first and passed alone; ${status}`;
  });
  const passed = list.filter((entry) =>
    ran.includes(entry.file) && !found.some(({ file, test }) => matches(entry, file, test))
  );
  lines.push(
    ...passed.map(({ file, test, since }) => `listed as flaky since ${since}, and not so this time: ${file}: ${test}`),
  );
  const limit = flakyLimit(seconds);
  const failed = flaky.length > limit ? 1 : 0;
  if (failed > 0) lines.push(`${flaky.length} flaky files, of which a run may have ${limit}: it has failed`);
  return { lines, failed };
}

// `.ci/run` asks for the limit of all of its steps.
if (import.meta.main) Deno.stdout.writeSync(new TextEncoder().encode(`${flakyLimit(Number(Deno.args[0]))}\n`));
