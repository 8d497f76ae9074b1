/**
 * `deno task coverage`: runs every test file, and prints for each room how many of its lines ran, and which did not.
 *
 * The threads and processes that a test starts are counted too: Deno writes their coverage data when they end. It
 * writes none for a process that is killed, and none for a process that cannot write to the directory of the data.
 *
 *     deno task coverage [--lcov FILE] [FILE|FOLDER…]   only these tests; also writes the data as lcov
 *     deno task coverage --from FILE                    prints the table of such data; runs no test
 * @module
 */

import { isDirectory } from "#lib/os/file_kind.ts";
import { parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";
import { COVERAGE_RULES } from "./rules.ts";
import { addLcov, coverageReport, type LineCounts, toLcov } from "./report.ts";
import { sourceFiles } from "#scripts/source_files.ts";
import { testFiles } from "#scripts/test.ts";
import { runTestFile } from "#scripts/test_file.ts";
import { coveredNothing } from "#scripts/deno_output.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** The paths that are measured. */
const MEASURED = ["lib", "modules"] as const;
const ENTRIES = ["master.ts", "minion.ts", "salt.ts"] as const;

/** Time limit of a test file, in milliseconds: a test takes longer while its lines are counted. */
const LIMIT_MS = 1_200_000;
/** Files that run at once, besides one for each core: threads wait for seconds at their end. */
const MORE_FILES = 4;
/** Memory as a directory: a test writes thousands of small files, which take three times as long on a disk. */
const MEMORY = "/dev/shm";

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

/**
 * Runs test files, some at once, and counts what ran in each.
 * @param keep Called with the counts after each file: a run takes long, and may be aborted.
 */
async function measure(files: readonly string[], keep: (counts: LineCounts) => void): Promise<LineCounts> {
  const counts: LineCounts = new Map();
  const waiting = [...files];
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const figures = Deno.makeTempDirSync({ prefix: "coverage_", ...isDirectory(MEMORY) && { dir: MEMORY } });
      try {
        // Processes of other users write to it too.
        Deno.chmodSync(figures, 0o1777);
        const { failed, seconds, output } = await runTestFile(file, {
          limitMs: LIMIT_MS,
          env: { DENO_COVERAGE_DIR: figures },
          args: ["--coverage-raw-data-only"],
        });
        addLcov(counts, await lcov(figures), ROOT);
        keep(counts);
        say(`[${files.length - waiting.length}/${files.length}] ${file} (${seconds.toFixed(1)} s)\n`);
        if (failed > 0) say(`${output}\n${file}: ${failed} failed; its lines are counted anyway\n`);
      } finally {
        Deno.removeSync(figures, { recursive: true });
      }
    }
  };
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency + MORE_FILES }, work));
  return counts;
}

/**
 * Compiles the sources into this user's cache: `deno coverage` reads it, and leaves out a file that only processes with
 * another home directory have loaded.
 */
async function compile(paths: readonly string[]): Promise<void> {
  const command = new Deno.Command(Deno.execPath(), { args: ["cache", "--quiet", "--no-check", ...paths], cwd: ROOT });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(`deno cache failed: ${new TextDecoder().decode(stderr)}`);
}

async function lcov(figures: string): Promise<string> {
  for (const { name } of Deno.readDirSync(figures)) {
    if (!isComplete(`${figures}/${name}`)) Deno.removeSync(`${figures}/${name}`);
  }
  const escaped = ROOT.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const include = `--include=^file://${escaped}/(${MEASURED.join("|")}|[a-z]+\\.ts)`;
  // Without this option Deno leaves out more files; it always leaves out files named test.ts (rules/modules.ts).
  const exclude = "--exclude=_test\\.ts$";
  const command = new Deno.Command(Deno.execPath(), { args: ["coverage", "--lcov", include, exclude, figures] });
  const { success, stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(success ? stdout : stderr);
  // For example, a test of a document loads no measured file.
  if (!success && !coveredNothing(text)) throw new Error(`deno coverage failed: ${text}`);
  return success ? text : "";
}

/** Whether a file of coverage data is complete: the process may have been killed while it wrote it. */
function isComplete(path: string): boolean {
  try {
    JSON.parse(Deno.readTextFileSync(path));
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

async function main(argv: string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args: argv,
    options: { lcov: { type: "string" }, from: { type: "string" } },
    allowPositionals: true,
  });
  const { lcov: path, from } = values;
  const keep = (counts: LineCounts) => path !== undefined && Deno.writeTextFileSync(path, toLcov(counts));
  const files = testFiles(positionals);
  const read = from === undefined ? undefined : Deno.readTextFileSync(from);
  Deno.chdir(ROOT);
  const paths = [...ENTRIES, ...sourceFiles(".", ".ts", { below: MEASURED })];
  if (read === undefined) await compile(paths);
  const counts = read === undefined ? await measure(files, keep) : new Map();
  if (read !== undefined) addLcov(counts, read, ROOT);
  const sources = paths.map((path) => ({ path, text: Deno.readTextFileSync(path) }));
  say(coverageReport({ sources, counts, rules: COVERAGE_RULES }));
  return 0;
}

if (import.meta.main) await runScript(main, { name: "coverage" });
