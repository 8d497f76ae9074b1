/**
 * Runs one test file by `deno test` in its own process.
 * @module
 */

import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { parseStat } from "#lib/procfs/process_attributes.ts";
import { failedTests, testCounts } from "./deno_output.ts";

const decoder = new TextDecoder();
/** What `deno task` has installed is taken as it is: looking again would take 0.1 s of each file. */
const INSTALLED = ["--no-lock", "--node-modules-dir=manual"] as const;
/** How long a file may take before it counts as failed, in milliseconds. */
const LIMIT_MS = 900_000;
/** Time that it then has to end its processes, before it is killed, in milliseconds. */
const END_MS = 10_000;

/** The outcome of one run of a test file. */
export interface Outcome {
  /** Its path, as passed to `deno test`. */
  readonly file: string;
  readonly passed: number;
  /** Number of failed tests, plus one if the file ended before its tests did. */
  readonly failed: number;
  /** Number of ignored tests. */
  readonly ignored: number;
  /** Seconds from its start to its end. */
  readonly seconds: number;
  /** Seconds of the processor that it and the processes that it waited for used; 0 on a system without `/proc`. */
  readonly cpuSeconds: number;
  /** The names of the tests that failed; empty if the file ended before its tests did. */
  readonly failures: readonly string[];
  /** What it printed. */
  readonly output: string;
}

/** Options for a run of a test file. */
export interface TestFileOptions {
  /**
   * Time limit, in milliseconds.
   * @default 900000
   */
  readonly limitMs?: number;
  /** Variables to add to the environment of the file and of the processes that it starts. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of `deno test`. */
  readonly args?: readonly string[];
}

/** Runs `file`; resolves at the latest a few seconds after `limitMs`. */
export async function runTestFile(file: string, options: TestFileOptions = {}): Promise<Outcome> {
  const { limitMs = LIMIT_MS, env = {}, args = [] } = options;
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--no-check", "--quiet", ...INSTALLED, ...args, file],
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
  const cpuSeconds = takeCpuSeconds();
  const late = ms > limitMs ? ` after ${limitMs / 1000} s, its time` : "";
  const ended = (signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`) + late;
  const counts = testCounts(output);
  // A file that ends before its tests do has failed, whatever its counts are.
  const completed = code === 0 || counts.failed > 0;
  return {
    file,
    ...counts,
    failed: completed ? counts.failed : counts.failed + 1,
    seconds: ms / 1000,
    cpuSeconds,
    failures: failedTests(output),
    output: completed ? output : `${output}\n${file}: ${ended}\n`,
  };
}

/** Seconds of the processor of this process's ended children that {@linkcode takeCpuSeconds} has returned. */
let takenCpuSeconds = 0;

/** The processor time of the children that ended since the last call. Of two that ended at once, the first has both. */
function takeCpuSeconds(): number {
  const stat = readTextFileIfExists("/proc/self/stat");
  if (stat === undefined) return 0;
  const { childrenUser, childrenSystem } = parseStat(stat), before = takenCpuSeconds;
  takenCpuSeconds = childrenUser + childrenSystem;
  return takenCpuSeconds - before;
}
