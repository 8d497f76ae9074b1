/**
 * One test file, run by `deno test` in its own process.
 * @module
 */

import { failedTests, testCounts } from "./deno_output.ts";

const decoder = new TextDecoder();
/** How long a file may take before it counts as failed, in milliseconds. */
const LIMIT_MS = 300_000;
/** And then to end the processes that it has started, before it is killed. */
const END_MS = 10_000;

/** The outcome of one run of a test file. */
export interface Outcome {
  /** As `deno test` was given it. */
  readonly file: string;
  readonly passed: number;
  /** Tests that failed, and one more if the file ended before its tests did. */
  readonly failed: number;
  /** Tests that were left out. */
  readonly ignored: number;
  /** From its start to its end. */
  readonly seconds: number;
  /** The names of the tests that failed; empty where the file ended before its tests did. */
  readonly failures: readonly string[];
  /** What it printed. */
  readonly output: string;
}

/** How to run a test file. */
export interface TestFileOptions {
  /** In milliseconds. @default 300000 */
  readonly limitMs?: number;
  /** For the environment, and so for all that the file starts. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of `deno test`. */
  readonly args?: readonly string[];
}

/** Runs `file`; resolves in `limitMs` and a few seconds at the latest. */
export async function runTestFile(file: string, options: TestFileOptions = {}): Promise<Outcome> {
  const { limitMs = LIMIT_MS, env = {}, args = [] } = options;
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--no-check", "--quiet", "--trace-leaks", ...args, file],
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const timers = [
    setTimeout(() => child.kill("SIGTERM"), limitMs),
    setTimeout(() => child.kill("SIGKILL"), limitMs + END_MS),
  ];
  const { code, signal, stdout, stderr } = await child.output();
  timers.forEach(clearTimeout);
  const output = decoder.decode(stdout) + decoder.decode(stderr);
  const ms = performance.now() - started;
  const late = ms > limitMs ? ` after ${limitMs / 1000} s, its time` : "";
  const ended = (signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`) + late;
  const counts = testCounts(output);
  // A file that ends before its tests do has failed, whatever it counted.
  const whole = code === 0 || counts.failed > 0;
  return {
    file,
    ...counts,
    failed: whole ? counts.failed : counts.failed + 1,
    seconds: ms / 1000,
    failures: failedTests(output),
    output: whole ? output : `${output}\n${file}: ${ended}\n`,
  };
}
