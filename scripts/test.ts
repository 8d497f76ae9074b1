/**
 * `deno task test`: every test file in a process of its own, as many at once as there are cores.
 *
 * Deno's `--parallel` runs the files as threads of one process; libzmq's sockets and native threads belong to a process,
 * so that one file's end would pull them from under another. Prints what fails, then a line as `deno test` ends with.
 *
 * A file that fails beside others runs once more, alone: on a small machine a test that waits for real processes may have
 * had no processor. Both outcomes are printed, and the end names the files whose second run counts.
 *
 * `deno task test [FILE|FOLDER…]`: those files alone, with all that they print; of a folder all that are in it, and in its
 * folders. What holds no test file is an error, and so is an option: there is none.
 * @module
 */

import { sourceFiles } from "./source_files.ts";

/** What a run without arguments leaves out: it needs Python Salt (`deno task interop`). */
const APART = ["tests/interop"] as const;
const ENDING = "_test.ts";

const decoder = new TextDecoder();
/** How long one file may take before it counts as failed, in milliseconds. */
const FILE_MS = 300_000;
/** And then to end the processes that it has started, before it is killed. */
const LAST_WORDS_MS = 10_000;
/** So many files may fail and run again; when more do, it is not for want of a processor. */
const AGAIN = 3;

interface Outcome {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly ignored: number;
  readonly seconds: number;
  /** What it printed. */
  readonly output: string;
}

async function run(file: string): Promise<Outcome> {
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--no-check", "--quiet", "--trace-leaks", file],
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const timers = [
    setTimeout(() => child.kill("SIGTERM"), FILE_MS),
    setTimeout(() => child.kill("SIGKILL"), FILE_MS + LAST_WORDS_MS),
  ];
  const { code, signal, stdout, stderr } = await child.output();
  timers.forEach(clearTimeout);
  const output = decoder.decode(stdout) + decoder.decode(stderr);
  const seconds = (performance.now() - started) / 1000;
  const line = output.split("\n").findLast((text) => /^(ok|FAILED) \| \d+ passed/.test(text)) ?? "";
  const count = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  const late = performance.now() - started > FILE_MS ? ` after ${FILE_MS / 1000} s, its time` : "";
  const ended = (signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`) + late;
  const failed = count("failed");
  // A file that ends before its tests do has failed, whatever it counted.
  const whole = code === 0 || failed > 0;
  return {
    file,
    passed: count("passed"),
    failed: whole ? failed : failed + 1,
    ignored: count("ignored"),
    seconds,
    output: whole ? output : `${output}\n${file}: ${ended}\n`,
  };
}

/**
 * The test files that are meant by files and folders, all of the tree for none; each once, in the order of their names.
 * @throws {Deno.errors.NotFound} If one of them is not there, or is a folder without a test.
 */
export function testFiles(named: readonly string[]): string[] {
  if (named.length === 0) return sourceFiles(".", ENDING, { below: ["tests"], without: APART });
  const files = named.flatMap((path) => {
    if (!Deno.statSync(path).isDirectory) return [path];
    return sourceFiles(path, ENDING).map((name) => `${path.replace(/\/+$/, "")}/${name}`);
  });
  return [...new Set(files)].sort();
}

const write = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));

/** Runs files, `beside` at once, and says how each ended. */
async function runAll(files: readonly string[], beside: number, show: "failures" | "all"): Promise<Outcome[]> {
  const waiting = [...files];
  const done: Outcome[] = [];
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const outcome = await run(file);
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
  await Promise.all(Array.from({ length: beside }, work));
  return done;
}

function refuse(message: string, exitCode: number): number {
  write(`test: ${message}\nFAILED | 0 passed | 1 failed\n`);
  return exitCode;
}

async function main(): Promise<number> {
  const started = performance.now();
  const option = Deno.args.find((word) => word.startsWith("-"));
  if (option !== undefined) return refuse(`There is no option ${option}`, 64);
  let files: string[];
  try {
    files = testFiles(Deno.args);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return refuse(error.message, 1);
  }
  const beside = Math.max(2, navigator.hardwareConcurrency);
  const first = await runAll(files, beside, Deno.args.length > 0 ? "all" : "failures");
  const failures = first.filter(({ failed }) => failed > 0).map(({ file }) => file);
  const again = failures.length <= AGAIN ? failures : [];
  if (again.length > 0) write("\nOnce more, alone:\n");
  const second = await runAll(again, 1, "all");
  const done = [...first.filter(({ file }) => !again.includes(file)), ...second];
  const sum = (field: "passed" | "failed" | "ignored") => done.reduce((total, outcome) => total + outcome[field], 0);
  const seconds = Math.round((performance.now() - started) / 1000);
  const failed = sum("failed");
  for (const { file } of second.filter((outcome) => outcome.failed === 0)) {
    write(`\n${file} failed beside others and passed alone: its second run counts, and its first stands above.`);
  }
  write(
    `\n${failed === 0 ? "ok" : "FAILED"} | ${sum("passed")} passed | ${failed} failed | ${
      sum("ignored")
    } ignored (${seconds}s)\n`,
  );
  return failed === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
