/**
 * Salt's own functional tests, run against a `salt-call`: those of states, of the state modules for files and of
 * execution modules that change nothing of the host, from Salt's source archive on PyPI. Their fixtures come from
 * black_box.py, and start the program as a process.
 *
 * The archive and an environment with pytest are made once, beside the virtual environments of python_salt.ts. Nothing
 * of the archive is in this repository.
 * @module
 */

import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { run } from "#tests/support/processes.ts";
import { INSTALL_MS, mustRun, OUT_OF_REACH, pythonSalt, usablePython, venvsDirectory } from "./python_salt.ts";

export const SUITE_SALT = "3008.3";

/** A part of the suite: the tests below one conftest.py of Salt. */
export interface Part {
  /** Its name in reports. */
  readonly name: string;
  /** The folder whose own fixtures are used; fixtures of folders above are replaced. */
  readonly below: string;
  readonly paths: readonly string[];
}

/** The parts; paths are relative to tests/pytests/functional. */
export const PARTS: readonly Part[] = [
  { name: "modules/state", below: "modules", paths: ["modules/state"] },
  { name: "states/file", below: "states", paths: ["states/file"] },
  {
    name: "other states",
    below: "states",
    paths: [
      "states/test_file.py",
      "states/test_archive.py",
      "states/test_module.py",
      "states/test_slots_documented.py",
    ],
  },
  {
    name: "execution modules",
    below: "modules",
    paths: [
      "modules/cmd/test_enabled.py",
      "modules/cmd/test_run.py",
      "modules/cmd/test_script.py",
      "modules/file",
      "modules/pillar",
      "modules/test_aliases.py",
      "modules/test_archive.py",
      "modules/test_cmdmod.py",
      "modules/test_data.py",
      "modules/test_defaults.py",
    ],
  },
];

/** The outcome of a test. */
export interface TestOutcome {
  /** Its file, relative to the folder of its kind (tests/pytests/functional), and its name. */
  readonly id: string;
  /** `in-process`: it passed without a call of the program, so it proves nothing. */
  readonly outcome: "passed" | "failed" | "skipped" | "in-process";
  /** The end of its output, if it did not pass. */
  readonly why?: string;
}

/** The files that are installed once. */
export interface Suite {
  /** The Python with pytest. */
  readonly python: string;
  /** The unpacked source archive. */
  readonly source: string;
}

const FOLDER = "tests/pytests/functional";

/** Packages that the tests need besides Salt and its dependencies; Salt 3008.3 requires a pytest below 9. */
const PACKAGES = [
  "pytest>=8.4,<9",
  "pytest-salt-factories==1.0.5",
  "pytest-helpers-namespace",
  "pytest-subtests",
  "pytest-timeout",
  "pytest-xdist",
  "mock",
  "more-itertools",
  "trustme",
];

/** Time limit of one test, in seconds: several times the time of the slowest test on a busy machine. */
const TEST_SECONDS = 180;

/** Time limit of all tests, in milliseconds. */
const SUITE_MS = 1_500_000;

/**
 * The suite, installed if it is not there.
 * @throws {Error} If the installation fails for another reason than that python3 or PyPI is out of reach.
 */
export async function saltSuite(): Promise<Suite | { readonly missing: string }> {
  const salt = await pythonSalt(SUITE_SALT);
  if ("missing" in salt) return salt;
  const directory = `${venvsDirectory()}/suite-${SUITE_SALT}`;
  const suite = { python: `${directory}/venv/bin/python`, source: `${directory}/salt-${SUITE_SALT}` };
  if (lexistsOrThrow(`${directory}/complete`)) return suite;
  using lock = Deno.openSync(`${directory}.lock`, { create: true, write: true });
  await lock.lock(true);
  if (lexistsOrThrow(`${directory}/complete`)) return suite;
  const python = await usablePython();
  if (python === undefined) return { missing: "there is no python3 with venv here" };
  await mustRun([python, "-m", "venv", "--clear", `${directory}/venv`]);
  const pip = [`${directory}/venv/bin/pip`, "--disable-pip-version-check", "--quiet"];
  for (
    const words of [
      [...pip, "install", ...PACKAGES],
      [...pip, "download", "--no-deps", "--no-binary", "salt", `salt==${SUITE_SALT}`, "--dest", directory],
    ]
  ) {
    const { code, err } = await run(words, INSTALL_MS);
    if (code !== 0 && OUT_OF_REACH.test(err)) return { missing: "PyPI is out of reach" };
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}:\n${err}`);
  }
  await mustRun(["tar", "-xzf", `${suite.source}.tar.gz`, "-C", directory]);
  // Salt's dependencies are installed with that version of Salt.
  const { out } = await run([suite.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
  const theirs = out.trim().replace(`${directory}/venv`, salt.bin.replace(/\/bin$/, ""));
  Deno.writeTextFileSync(`${out.trim()}/salt.pth`, `${theirs}\n`);
  Deno.writeTextFileSync(`${directory}/complete`, "");
  return suite;
}

/**
 * Runs a part of the suite.
 * @param saltCall The command that starts the program.
 * @param only Ids of tests. Default: all of the part.
 * @returns The outcome of each test, in the order of their ids.
 * @throws {Error} If pytest itself failed.
 */
export async function runPart(
  { python, source }: Suite,
  part: Part,
  { saltCall, only, beside = 2 }: {
    readonly saltCall: readonly string[];
    readonly only?: readonly string[];
    /** Number of tests at once. */
    readonly beside?: number;
  },
): Promise<TestOutcome[]> {
  const scratch = await Deno.makeTempDir({ prefix: "salt_suite_" });
  try {
    return await runPytest({ python, source }, {
      plugin: "black_box",
      folder: FOLDER,
      scratch,
      environment: [
        // Tests look for pip, and for the shell of the user who runs them.
        `PATH=${python.replace(/\/[^/]*$/, "")}:${Deno.env.get("PATH") ?? "/usr/bin:/bin"}`,
        "SHELL=/bin/bash",
        `SALT_CALL=${JSON.stringify(saltCall)}`,
      ],
      options: [
        "-q",
        ...["--confcutdir", `${source}/${FOLDER}/${part.below}`, "--basetemp", `${scratch}/tmp`],
        ...["-n", String(beside)],
      ],
      tests: only ?? part.paths,
      limitMs: SUITE_MS,
    });
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

/** A run of pytest. */
export interface PytestRun {
  /** The plugin of the directory salt_suite that replaces Salt's fixtures. */
  readonly plugin: string;
  /** The folder of the source archive in which the tests are. */
  readonly folder: string;
  /** A directory for the outcomes. */
  readonly scratch: string;
  /** Variables of the environment besides those of the plugin: `NAME=value`. */
  readonly environment: readonly string[];
  /** Options besides those that each run has. */
  readonly options: readonly string[];
  /** The tests, relative to `folder`. */
  readonly tests: readonly string[];
  /** Time limit of the run, in milliseconds. */
  readonly limitMs: number;
}

/**
 * Runs tests of the suite with pytest.
 * @returns The outcome of each test, in the order of their ids.
 * @throws {Error} If pytest itself failed, or did not end in time.
 */
export async function runPytest(
  { python, source }: Suite,
  { plugin, folder, scratch, environment, options, tests, limitMs }: PytestRun,
): Promise<TestOutcome[]> {
  const results = `${scratch}/results.jsonl`;
  const plugins = decodeURIComponent(new URL("./salt_suite", import.meta.url).pathname);
  const { code, out, err } = await run([
    "env",
    `PYTHONPATH=${source}:${plugins}`,
    "PYTHONDONTWRITEBYTECODE=1",
    `SALT_SUITE_RESULTS=${results}`,
    ...environment,
    ...[python, "-m", "pytest", "-p", plugin, "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", source],
    ...["--timeout", String(TEST_SECONDS), "--tb", "short"],
    ...options,
    ...tests.map((id) => `${source}/${folder}/${id}`),
  ], limitMs);
  // Exit code 1: some tests failed.
  if (code > 1) throw new Error(`pytest ended with ${code}:\n${out.slice(-4000)}\n${err.slice(-4000)}`);
  return readOutcomes(Deno.readTextFileSync(results), folder);
}

/**
 * The outcomes that a plugin wrote, a line of JSON for each, in the order of their ids, which are relative to `folder`.
 * A test with subtests has a line for each: if one failed, the test failed.
 */
function readOutcomes(text: string, folder: string): TestOutcome[] {
  const byId = new Map<string, TestOutcome>();
  for (const line of text.trim().split("\n")) {
    const outcome: TestOutcome = JSON.parse(line);
    const id = outcome.id.replace(`${folder}/`, "");
    if (byId.get(id)?.outcome !== "failed") byId.set(id, { ...outcome, id });
  }
  return [...byId.values()].sort((a, b) => a.id < b.id ? -1 : 1);
}
