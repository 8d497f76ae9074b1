import { sourceFiles } from "#scripts/source_files.ts";
import { testFiles } from "#scripts/test.ts";
import { ReachedFiles } from "#scripts/tests_for.ts";
import { runTestFile } from "#scripts/test_file.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

Deno.test("deno task test runs the tests of all folders, except those against Python Salt", () => {
  const before = Deno.cwd();
  Deno.chdir(ROOT);
  try {
    const all = testFiles([]);
    const paths = sourceFiles(".", "_test.ts", { below: ["tests"] });
    assertEquals(all, paths.filter((path) => !/^tests\/(interop|release)\//.test(path)));
    assert(all.length > 100 && all.length < paths.length);
    assertEquals(testFiles(["tests/keys/", "tests/keys/store_test.ts"]), testFiles(["tests/keys"]));
    assert(testFiles(["tests/keys"]).every((path) => /^tests\/keys\/\w+_test\.ts$/.test(path)));
    assertEquals(testFiles(["tests/modules"]), all.filter((path) => path.startsWith("tests/modules/")));
    assert(testFiles(["tests/interop"]).length > 0);
  } finally {
    Deno.chdir(before);
  }
});

const RUNS: [what: string, args: (root: string) => string[], code: number, pattern: RegExp][] = [
  ["a folder: all tests in its folders", (root) => [root], 0, /\nok \| 2 passed \| 0 failed \| 0 ignored/],
  ["a file", (root) => [`${root}/a/b/x_test.ts`], 0, /\nok \| 1 passed \| 0 failed/],
  ["a folder without a test", (root) => [`${root}/empty`], 1, /There is no file \*_test\.ts[^]*\nFAILED \| 0 passed/],
  ["a folder that is not there", (root) => [`${root}/gone`], 1, /No such file[^]*\nFAILED \| 0 passed/],
  ["an unknown option", (root) => ["--filters", root], 64, /Unknown option '--filters'[^]*\nUsage: deno task test /],
  ["--help", () => ["--help"], 0, /^Usage: deno task test [^]* --for FILE /],
  ["--filter", (root) => ["--filter", "noth", root], 0, /\nok \| 2 passed \| 0 failed/],
  ["--filter, a pattern", (root) => ["--filter", "/^n.*g$/", `${root}/y_test.ts`], 0, /\nok \| 1 passed \| 0 failed/],
  ["a filter that matches nothing", (root) => ["--filter", "xyz", root], 1, /No test's name matches xyz\nFAILED/],
  ["an empty filter", (root) => ["--filter", "", root], 64, /--filter needs a pattern/],
  ["--list without --for", (root) => ["--list", root], 64, /--nearest and --list go with --for FILE/],
  ["--nearest 0", () => ["--for", "scripts/test.ts", "--nearest", "0"], 64, /--nearest 0: not a number/],
  ["--for with files", (root) => ["--for", "scripts/test.ts", root], 64, /--for FILE takes no other files: /],
  ["--for a file that is not there", () => ["--for", "lib/gone.ts"], 1, /lib\/gone\.ts'?\nFAILED \| 0 passed/],
  ["--for a folder", () => ["--for", "lib/keys"], 1, /lib\/keys is not a file\nFAILED \| 0 passed/],
  ["--for a file that no test reaches", () => ["--for", "LICENSE"], 1, /No test loads, starts or reads LICENSE /],
  ["--list", () => ["--for", "scripts/test.ts", "--list"], 0, /^ {2}1 {2}tests\/scripts\/test_test\.ts\n/],
];
for (const [what, args, expected, pattern] of RUNS) {
  Deno.test(`deno task test with ${what}: exit code ${expected}`, () =>
    withTemporaryDirectory(async (root) => {
      Deno.mkdirSync(`${root}/a/b`, { recursive: true });
      Deno.mkdirSync(`${root}/empty`);
      for (const path of ["a/b/x_test.ts", "y_test.ts"]) {
        Deno.writeTextFileSync(`${root}/${path}`, 'Deno.test("nothing", () => {});\n');
      }
      const command = ["run", "--allow-all", `${ROOT}/scripts/test.ts`, ...args(root)];
      const { code, stdout } = await new Deno.Command(Deno.execPath(), { args: command, cwd: ROOT }).output();
      const text = new TextDecoder().decode(stdout);
      assertEquals(code, expected, text);
      assert(pattern.test(text), text);
    }));
}

const PASSES = 'Deno.test("passes", () => {});\n';
const BROKEN = 'Deno.test("works", () => {});\nDeno.test("is broken", () => { throw new Error("as ever"); });\n';
/** A test that fails if the file `mark` is missing, and creates it. */
const flaky = (mark: string) => `
Deno.test("now and then", () => {
  if ([...Deno.readDirSync(".")].some(({ name }) => name === "${mark}")) return;
  Deno.writeTextFileSync("${mark}", "");
  throw new Error("the first time");
});
`;
/** A test file that ends before its tests do if the file `mark` is missing, and creates it. */
const ending = (mark: string) => `
Deno.test("is cut off", async () => {
  if ([...Deno.readDirSync(".")].some(({ name }) => name === "${mark}")) return;
  Deno.writeTextFileSync("${mark}", "");
  Deno.kill(Deno.pid, "SIGKILL");
  await new Promise(() => {});
});
`;

interface Tree {
  readonly what: string;
  /** The files, by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly code: number;
  /** Texts that the output contains. */
  readonly says: readonly string[];
  /** The last line, without its time. */
  readonly ends: string;
}

const TREES: readonly Tree[] = [
  {
    what: "a broken file fails, and its second run is shown too",
    files: { "tests/a_test.ts": PASSES, "tests/b_test.ts": BROKEN },
    code: 1,
    says: ["/2] tests/b_test.ts FAILED: 1 passed, 1 failed", "Once more, alone:", "[1/1] tests/b_test.ts FAILED"],
    ends: "FAILED | 2 passed | 1 failed | 0 ignored | 0 flaky",
  },
  {
    what: "a flaky file that is not listed is named and counted",
    files: { "tests/a_test.ts": PASSES, "tests/b_test.ts": flaky("mark") },
    code: 0,
    says: [
      "flaky: tests/b_test.ts: now and then: failed at first and passed alone; not in .ci/flaky: mend it, or list it there",
    ],
    ends: "ok | 2 passed | 0 failed | 0 ignored | 1 flaky",
  },
  {
    what: "a flaky file that is listed is named with what is known",
    files: {
      "tests/a_test.ts": PASSES,
      "tests/b_test.ts": flaky("mark"),
      ".ci/flaky": "# some\n\ntests/b_test.ts | now and then | 2026-01-31 | a race\n",
    },
    code: 0,
    says: ["failed at first and passed alone; known since 2026-01-31: a race"],
    ends: "ok | 2 passed | 0 failed | 0 ignored | 1 flaky",
  },
  {
    what: "three flaky files do not fail the run, listed or not",
    files: {
      ...Object.fromEntries(["a", "b", "c"].map((name) => [`tests/${name}_test.ts`, flaky(`mark_${name}`)])),
      ".ci/flaky": "tests/a_test.ts | now and then | 2026-01-31 | a race\n",
    },
    code: 0,
    says: ["flaky: tests/a_test.ts", "flaky: tests/b_test.ts", "flaky: tests/c_test.ts"],
    ends: "ok | 3 passed | 0 failed | 0 ignored | 3 flaky",
  },
  {
    what: "a listed file that passes is reported",
    files: { "tests/a_test.ts": PASSES, ".ci/flaky": "tests/a_test.ts | passes | 2026-01-31 | a race\n" },
    code: 0,
    says: ["listed as flaky since 2026-01-31, and not so this time: tests/a_test.ts: passes"],
    ends: "ok | 1 passed | 0 failed | 0 ignored | 0 flaky",
  },
  {
    what: "another test of a listed file counts as not listed",
    files: {
      "tests/b_test.ts": flaky("mark"),
      ".ci/flaky": "tests/b_test.ts | another | 2026-01-31 | a race\n",
    },
    code: 0,
    says: [
      "now and then: failed at first and passed alone; not in .ci/flaky",
      "not so this time: tests/b_test.ts: another",
    ],
    ends: "ok | 1 passed | 0 failed | 0 ignored | 1 flaky",
  },
  {
    what: "a file that ended before its tests did is flaky as a whole",
    files: { "tests/a_test.ts": ending("mark"), ".ci/flaky": "tests/a_test.ts | * | 2026-01-31 | it is killed\n" },
    code: 0,
    says: [
      "it was ended by SIGKILL",
      "flaky: tests/a_test.ts: *: failed at first and passed alone; known since 2026-01-31",
    ],
    ends: "ok | 1 passed | 0 failed | 0 ignored | 1 flaky",
  },
  {
    what: "more than nine broken files do not run again",
    files: Object.fromEntries([..."abcdefghij"].map((name) => [`tests/${name}_test.ts`, flaky(name)])),
    code: 1,
    says: ["now and then"],
    ends: "FAILED | 0 passed | 10 failed | 0 ignored | 0 flaky",
  },
  {
    what: "a listed file that is not there fails the run",
    files: { "tests/a_test.ts": PASSES, ".ci/flaky": "tests/b_test.ts | works | 2026-01-31 | a race\n" },
    code: 1,
    says: ["test: .ci/flaky lists tests/b_test.ts, which is not there"],
    ends: "FAILED | 0 passed | 1 failed",
  },
  {
    what: "a list that cannot be read fails the run",
    files: { "tests/a_test.ts": PASSES, ".ci/flaky": "tests/a_test.ts | passes | long ago | a race\n" },
    code: 1,
    says: [
      "test: .ci/flaky: expected FILE | TEST | YYYY-MM-DD | WHAT IS KNOWN, found: tests/a_test.ts | passes | long ago",
    ],
    ends: "FAILED | 0 passed | 1 failed",
  },
  {
    what: "the ten slowest of many files are named, and the ten that used the processor most",
    files: Object.fromEntries(Array.from("abcdefghijkl", (name) => [`tests/${name}_test.ts`, PASSES])),
    code: 0,
    says: ["The slowest of 12 files, with others at the same time:", "The most processor time, of "],
    ends: "ok | 12 passed | 0 failed | 0 ignored | 0 flaky",
  },
];

for (const { what, files, code: expected, says, ends } of TREES) {
  Deno.test(`deno task test: ${what}`, () =>
    withTemporaryDirectory(async (root) => {
      for (const [path, text] of Object.entries(files)) {
        Deno.mkdirSync(`${root}/${path.replace(/[^/]+$/, "")}`, { recursive: true });
        Deno.writeTextFileSync(`${root}/${path}`, text);
      }
      const args = ["run", "--allow-all", `${ROOT}/scripts/test.ts`];
      const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: root }).output();
      const text = new TextDecoder().decode(stdout);
      for (const part of says) assertStringIncludes(text, part);
      assertEquals(text.trimEnd().split("\n").at(-1)?.replace(/ \(\d+s\)$/, ""), ends, text);
      assertEquals([...text.matchAll(/^ +[\d.]+ s {2}tests/gm)].length, slowestOf(files, ends), text);
      assertEquals(code, expected, text);
    }));
}

/**
 * The number of files that are named for their time and processor time: at most ten each, and none if the run did not
 * begin or has only one file.
 */
function slowestOf(files: Tree["files"], ends: string): number {
  const count = Object.keys(files).filter((path) => path.endsWith("_test.ts")).length;
  return count === 1 || !ends.includes("flaky") ? 0 : 2 * Math.min(10, count);
}

Deno.test("a test file that hangs is ended, and counts as failed", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/hangs_test.ts`;
    Deno.writeTextFileSync(file, 'Deno.test("hangs", () => { while (true); });\n');
    const outcome = await runTestFile(file, { limitMs: 3_000 });
    assertEquals([outcome.passed, outcome.failed, outcome.failures], [0, 1, []]);
    assert(outcome.cpuSeconds > 0.3, `${outcome.cpuSeconds} s`);
    assertMatch(outcome.output, /hangs_test\.ts: it was ended by SIG\w+ after 3 s, its time\n$/);
  }));

/** A tree for `--for`: its sources, and two tests of which only one reaches each of them. */
const REACHED: Readonly<Record<string, string>> = {
  "lib/keys/store.ts": "export const store = 1;\n",
  "lib/keys/kinds.ts": "export interface Kind {}\n",
  "lib/keys/loaded.ts": 'import { store } from "./store.ts";\nimport type { Kind } from "./kinds.ts";\nstore;\n',
  "lib/keys/thread.ts": 'import "#lib/keys/later.ts";\n',
  "lib/keys/later.ts": 'const later = () => import("#lib/keys/last.ts");\n',
  "lib/keys/last.ts": "export const last = 1;\n",
  "modules/states/cron/parts.ts": "export const parts = 1;\n",
  "modules/states/cron/mod.ts": 'export * from "./parts.ts";\n',
  "salt.ts": 'import { all } from "#modules/states/cron/mod.ts";\n',
  "tests/corpus/runs/cron.json": "{}\n",
  "tests/corpus/cases.json": "{}\n",
  "tests/keys/a_test.ts": 'import { store } from "#lib/keys/loaded.ts";\n',
  "tests/keys/store_test.ts": 'import { x } from "#tests/keys/a_test.ts";\n',
  "tests/keys/thread_test.ts": 'new Worker(new URL("../../lib/keys/thread.ts", import.meta.url));\n',
  "tests/modules/states/cron_test.ts":
    "const run = `${ROOT}/salt.ts`;\nnew URL(`../../corpus/runs/${name}.json`, import.meta.url);\n",
  "tests/modules/states/a_test.ts":
    'import { parts } from "#modules/states/cron/parts.ts";\nimport cases from "../../corpus/cases.json" with { type: "json" };\n',
};
const REACHING: [file: string, tests: string[]][] = [
  ["lib/keys/store.ts", ["3 tests/keys/store_test.ts", "2 tests/keys/a_test.ts"]],
  ["lib/keys/loaded.ts", ["1 tests/keys/a_test.ts", "2 tests/keys/store_test.ts"]],
  ["lib/keys/last.ts", ["3 tests/keys/thread_test.ts"]],
  ["modules/states/cron/parts.ts", ["3 tests/modules/states/cron_test.ts", "1 tests/modules/states/a_test.ts"]],
  ["tests/corpus/runs/cron.json", ["1 tests/modules/states/cron_test.ts"]],
  ["tests/corpus/cases.json", ["1 tests/modules/states/a_test.ts"]],
  ["tests/keys/thread_test.ts", ["0 tests/keys/thread_test.ts"]],
];
Deno.test("deno task test --for FILE runs the tests that load, start or read it, those with its name first", () =>
  withTemporaryDirectory((root) => {
    for (const [path, text] of Object.entries(REACHED)) {
      Deno.mkdirSync(`${root}/${path.replace(/[^/]+$/, "")}`, { recursive: true });
      Deno.writeTextFileSync(`${root}/${path}`, text);
    }
    const tree = new ReachedFiles(root);
    for (const [file, tests] of REACHING) {
      assertEquals(tree.testsFor(file).map(({ path, distance }) => `${distance} ${path}`), tests, file);
    }
    assertThrows(() => tree.testsFor("lib/keys/kinds.ts"), Deno.errors.NotFound, "No test loads, starts or reads");
  }));
