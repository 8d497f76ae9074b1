/**
 * `deno task test`: every test file in its own process, two more at once than there are cores, because the long ones
 * wait for time limits and other processes. Rooms are mixed: files that wait and files that compute run together.
 * {@linkcode USAGE} has its options.
 *
 * Deno's `--parallel` runs the files as threads of one process; libzmq's sockets and native threads belong to a
 * process, so the end of one file would close those of another. Prints the failures, then a last line like that of
 * `deno test`.
 *
 * A file that fails runs once more, alone: on a small machine a test that waits for real processes may have got no
 * processor time. Both outcomes are printed. A file that then passes is flaky: it is named and counted at the end, and
 * a run with too many fails (`flaky.ts`).
 *
 * A run of named files prints their whole output. A path without a test file is an error, as is a file that no test
 * reaches, or a filter that no test's name matches.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { crc32 } from "#lib/values/crc32.ts";
import { EX_USAGE } from "#lib/runtime/sysexits.ts";
import { FLAKY_LIST, judgeFlaky, type KnownFlaky, readFlakyList } from "./flaky.ts";
import { OptionError, parseOptions } from "./options.ts";
import { sourceFiles } from "./source_files.ts";
import { type Outcome, runTestFile } from "./test_file.ts";
import { ReachedFiles } from "./tests_for.ts";

const USAGE = `Usage: deno task test [--filter PATTERN] [FILE|FOLDER…]
       deno task test --for FILE [--nearest N] [--filter PATTERN] [--list]

  FILE, FOLDER      test files, or all test files in folders and their subfolders; default: all but those of
                    tests/interop and tests/release
  --for FILE        the tests that reach FILE: those with its name first, then the nearest by imports, threads and
                    programs. FILE is a source, a file of a corpus, or a page that a test reads
  --nearest N       only the first N of these files
  --list            names these files, with the number of steps from each to FILE, and runs none
  --filter PATTERN  only tests whose names contain PATTERN, or match it if it is /a regular expression/
`;

/**
 * Left out in a run without arguments: these tests need Python Salt (`deno task interop`), or make a release and
 * install it (`deno task test tests/release`). .ci/run has steps for them.
 */
const LONG_FOLDERS = ["tests/interop", "tests/release"] as const;
const TEST_SUFFIX = "_test.ts";

/** Time limit of a test file of these folders, in milliseconds: each takes minutes. */
const LONG_FOLDERS_MS = 1_800_000;
/** The test files that take longest. They start first: a long file that starts last runs alone at the end. */
const LONGEST = [
  "tests/interop/salt_suite_test.ts",
  ...["3007", "3006", "3008"].map((salt) => `tests/interop/pairs/our_minion_on_${salt}_test.ts`),
  "tests/interop/shared_files_test.ts",
  "tests/interop/minion_on_our_master_test.ts",
  "tests/interop/python_clients_test.ts",
  "tests/interop/mine_test.ts",
  ...[1, 51, 101, 151].map((seed) => `tests/simulation/seeds_${seed}_test.ts`),
  "tests/scripts/bundle_test.ts",
  "tests/chaos/power_test.ts",
  "tests/chaos/files_test.ts",
  "tests/chaos/network_test.ts",
  ...["salt_ssh", "connections", "peer_hosts"].map((name) => `tests/commands/ssh/${name}_test.ts`),
  "tests/modules/states/git_test.ts",
  "tests/minion/python/python_calls_test.ts",
  "tests/minion/python/python_programs_test.ts",
  "tests/minion/python/python_rules_test.ts",
  "tests/modules/states/file_test.ts",
] as const;
/** Maximum number of failed files that run again: more than may be flaky on a machine of half the usual speed. */
const MAX_RERUNS = 9;
/** Shows where an operation started that a test left open: a fifth more time, so only a failed file runs with it. */
const TRACED = ["--trace-leaks"];
/** Number of the files that are named for their time, and for their processor time. */
const SLOWEST = 10;

/**
 * The test files of files and folders; without any, all of the tree. Each file is there once, sorted by name.
 * @throws {Deno.errors.NotFound} If one of them is not there, or is a folder without a test.
 */
export function testFiles(named: readonly string[]): string[] {
  if (named.length === 0) return sourceFiles(".", TEST_SUFFIX, { below: ["tests"], without: LONG_FOLDERS });
  const files = named.flatMap((path) => {
    if (!Deno.statSync(path).isDirectory) return [path];
    return sourceFiles(path, TEST_SUFFIX).map((name) => `${rstripChars(path, "/")}/${name}`);
  });
  return [...new Set(files)].sort();
}

/** `files` in an order that mixes rooms and is always the same, with those that take longest first. */
function mixed(files: readonly string[]): string[] {
  const longest: readonly string[] = LONGEST.filter((file) => files.includes(file));
  const place = (file: string) => crc32(new TextEncoder().encode(file));
  return [...longest, ...files.filter((file) => !longest.includes(file)).sort((a, b) => place(a) - place(b))];
}

function isLong(file: string): boolean {
  return LONG_FOLDERS.some((folder) => file.startsWith(`${folder}/`));
}

const write = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));

/** How files are run. */
interface RunOptions {
  /** How many run at once. */
  readonly jobs: number;
  /** The files whose output is printed. */
  readonly show: "failures" | "all";
  /** Further arguments of `deno test`. */
  readonly args: readonly string[];
}

/** Runs files, and reports how each ended. */
async function runAll(files: readonly string[], { jobs, show, args }: RunOptions): Promise<Outcome[]> {
  const waiting = [...files];
  const done: Outcome[] = [];
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const outcome = await runTestFile(file, isLong(file) ? { limitMs: LONG_FOLDERS_MS, args } : { args });
      done.push(outcome);
      const word = outcome.failed > 0 ? "FAILED" : "ok";
      const ignored = outcome.ignored > 0 ? `, ${outcome.ignored} ignored` : "";
      write(
        `[${done.length}/${files.length}] ${file} ${word}: ${outcome.passed} passed, ${outcome.failed} failed${ignored} ` +
          `(${outcome.seconds.toFixed(1)} s)\n`,
      );
      if (outcome.failed > 0 || show === "all") write(`${outcome.output}\n`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return done;
}

function refuse(message: string, exitCode: number): number {
  write(`test: ${message}\nFAILED | 0 passed | 1 failed\n`);
  return exitCode;
}

/** The command line of a run. */
interface Command {
  /** The test files, in the order in which they start. */
  readonly files: readonly string[];
  /** What is printed in the place of a run. */
  readonly text?: string;
  readonly show: RunOptions["show"];
  /** The pattern of the names of tests. */
  readonly filter?: string;
}

/**
 * @throws {OptionError} For an invalid command line.
 * @throws {Deno.errors.NotFound} If a file is not there, or no test reaches it.
 */
function parseCommand(argv: string[]): Command {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values, positionals } = parseOptions({
    args: argv,
    options: { for: text, nearest: text, filter: text, list: flag, help: { ...flag, short: "h" } },
    allowPositionals: true,
  });
  const { for: file, nearest, filter, list = false } = values;
  const show = positionals.length > 0 ? "all" : "failures";
  if (values.help) return { files: [], text: USAGE, show };
  if (filter === "") throw new OptionError("--filter needs a pattern");
  if (file === undefined) {
    if (nearest !== undefined || list) throw new OptionError("--nearest and --list go with --for FILE");
    return { files: mixed(testFiles(positionals)), show, filter };
  }
  if (positionals.length > 0) throw new OptionError(`--for FILE takes no other files: ${positionals.join(" ")}`);
  if (nearest !== undefined && !/^[1-9]\d*$/.test(nearest)) throw new OptionError(`--nearest ${nearest}: not a number`);
  const own = file.replace(/^\.\//, "").replace(`${Deno.cwd()}/`, "");
  const tests = new ReachedFiles(Deno.cwd()).testsFor(own).slice(
    0,
    nearest === undefined ? undefined : Number(nearest),
  );
  const named = tests.map(({ path, distance }) => `${String(distance).padStart(3)}  ${path}\n`).join("");
  return { files: tests.map(({ path }) => path), ...list ? { text: named } : {}, show, filter };
}

async function main(): Promise<number> {
  const started = performance.now();
  let command: Command;
  let list: KnownFlaky[];
  try {
    command = parseCommand(Deno.args);
    list = readFlakyList();
  } catch (error) {
    if (error instanceof OptionError) return refuse(`${error.message}\n${USAGE}`, EX_USAGE);
    if (!(error instanceof Deno.errors.NotFound || error instanceof SyntaxError)) throw error;
    return refuse(error.message, 1);
  }
  const { files, text, show, filter } = command;
  if (text !== undefined) {
    write(text);
    return 0;
  }
  const gone = list.find(({ file }) => file.endsWith(TEST_SUFFIX) && !isFile(file));
  if (gone !== undefined) return refuse(`${FLAKY_LIST} lists ${gone.file}, which is not there`, 1);
  const jobs = navigator.hardwareConcurrency + 2;
  const args = filter === undefined ? [] : [`--filter=${filter}`];
  const first = await runAll(files, { jobs, show, args });
  const ran = first.some(({ passed, failed, ignored }) => passed + failed + ignored > 0);
  if (filter !== undefined && !ran) return refuse(`No test's name matches ${filter}`, 1);
  const failures = first.filter(({ failed }) => failed > 0).map(({ file }) => file);
  const again = failures.length <= MAX_RERUNS ? failures : [];
  if (again.length > 0) write("\nOnce more, alone:\n");
  const second = await runAll(again, { jobs: 1, show: "all", args: [...args, ...TRACED] });
  const done = [...first.filter(({ file }) => !again.includes(file)), ...second];
  const sum = (field: "passed" | "failed" | "ignored") => done.reduce((total, outcome) => total + outcome[field], 0);
  const seconds = Math.round((performance.now() - started) / 1000);
  const passedAlone = second.filter((outcome) => outcome.failed === 0).map(({ file }) => file);
  const flaky = first.filter(({ file }) => passedAlone.includes(file));
  const judged = judgeFlaky({ flaky, list, ran: files, seconds });
  const failed = sum("failed") + judged.failed;
  if (files.length > 1) write(`\n${slowest(first)}`);
  if (judged.lines.length > 0) write(`\n${judged.lines.join("\n")}\n`);
  write(
    `\n${failed === 0 ? "ok" : "FAILED"} | ${sum("passed")} passed | ${failed} failed | ${sum("ignored")} ignored | ` +
      `${flaky.length} flaky (${seconds}s)\n`,
  );
  return failed === 0 ? 0 : 1;
}

/** The files that took longest, and those that used the processor most. */
function slowest(outcomes: readonly Outcome[]): string {
  const table = (field: "seconds" | "cpuSeconds") =>
    outcomes.toSorted((a, b) => b[field] - a[field]).slice(0, SLOWEST).map((outcome) =>
      `${outcome[field].toFixed(1).padStart(7)} s  ${outcome.file}\n`
    ).join("");
  const cpuSeconds = Math.round(outcomes.reduce((total, outcome) => total + outcome.cpuSeconds, 0));
  return `The slowest of ${outcomes.length} files, with others at the same time:\n${table("seconds")}` +
    `\nThe most processor time, of ${cpuSeconds} s:\n${table("cpuSeconds")}`;
}

if (import.meta.main) Deno.exit(await main());
