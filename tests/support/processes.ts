/**
 * Runs programs for tests and benchmarks: commands with a time limit, and services that are stopped by process id.
 *
 * Each program gets its own process group, so that its children end with it.
 * @module
 */

import { eventually } from "./eventually.ts";

/** The outcome of a command. */
export interface Ran {
  readonly code: number;
  /** Its standard output. */
  readonly out: string;
  /** Its standard error. */
  readonly err: string;
  /** Its run time, in milliseconds. */
  readonly ms: number;
}

/** The process ids of all running programs. */
const running = new Set<number>();

/** An interrupted test run (CI interrupts it at its time limit) must leave no masters and minions running. */
function endWithTests(pid: number): void {
  if (running.size === 0) {
    for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, killAll);
  }
  running.add(pid);
}

function forget(pid: number): void {
  if (!running.delete(pid) || running.size > 0) return;
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.removeSignalListener(signal, killAll);
}

function killAll(): void {
  for (const pid of running) killGroup(pid);
  Deno.kill(Deno.pid, "SIGKILL");
}

/** Default time limit of a command, in milliseconds. */
const COMMAND_MS = 180_000;

/**
 * Runs a command to its end.
 * @throws {Error} If it has not ended in time; it is killed then.
 */
export async function run(words: readonly string[], withinMs = COMMAND_MS): Promise<Ran> {
  const [command, ...args] = words;
  const started = performance.now();
  const child = new Deno.Command(command, {
    args,
    env: ENVIRONMENT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
  endWithTests(child.pid);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killGroup(child.pid);
  }, withinMs);
  try {
    const { code, stdout, stderr } = await child.output();
    const ran = { code, out: text(stdout), err: text(stderr), ms: performance.now() - started };
    if (late) throw new Error(`no end within ${withinMs} ms: ${words.join(" ")}\n${ran.out}\n${ran.err}`);
    return ran;
  } finally {
    clearTimeout(timer);
    forget(child.pid);
  }
}

/** Makes Salt's programs independent of the environment: plain text, UTF-8, no warnings of Python. */
const ENVIRONMENT = { NO_COLOR: "1", LC_ALL: "C.UTF-8", PYTHONWARNINGS: "ignore" };

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** @returns Whether a process was killed. */
function killGroup(pid: number): boolean {
  try {
    Deno.kill(-pid, "SIGKILL");
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Maximum time until a killed process has ended, in milliseconds. */
const GONE_MS = 30_000;

/** Default time limit for the normal end of a service, in milliseconds. */
const STOP_MS = 20_000;

/** A program that runs until it is stopped; its output goes to a file. */
export class Service {
  /** The command line, for failure messages. */
  readonly name: string;
  /** The file of standard output and standard error. */
  readonly output: string;
  readonly #child: Deno.ChildProcess;
  #code: number | undefined;

  private constructor(name: string, output: string, child: Deno.ChildProcess) {
    this.name = name;
    this.output = output;
    this.#child = child;
    void child.status.then(({ code }) => this.#code = code);
    endWithTests(child.pid);
  }

  /** Starts the command `words`; its output goes to the file `output`. */
  static start(name: string, words: readonly string[], output: string): Service {
    Deno.writeTextFileSync(output, "", { append: true });
    // A file instead of a pipe: no reader is needed while the service runs. `exec` keeps the process id.
    const child = new Deno.Command("/bin/sh", {
      args: ["-c", 'output=$1; shift; exec "$@" </dev/null >>"$output" 2>&1', "sh", output, ...words],
      env: ENVIRONMENT,
      stdin: "null",
      stdout: "null",
      stderr: "null",
      detached: true,
    }).spawn();
    return new Service(name, output, child);
  }

  /** Its process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Its exit code, or `undefined` while it runs. */
  get exitCode(): number | undefined {
    return this.#code;
  }

  /** Its output so far. */
  get written(): string {
    return Deno.readTextFileSync(this.output);
  }

  /**
   * Waits until it ends by itself.
   * @throws {Error} If it does not.
   */
  async ended(withinMs: number): Promise<number> {
    await eventually(() => this.#code !== undefined, { withinMs, what: `the end of ${this.name}` });
    return this.#code ?? -1;
  }

  /** Kills only the process itself (SIGKILL); its children stay. Resolves when it is gone. */
  async crash(): Promise<void> {
    if (this.#code === undefined) this.#child.kill("SIGKILL");
    await this.#child.status;
  }

  /**
   * Sends the stop signal, and kills the remaining processes after `withinMs`. When it resolves, no process is left.
   * May be called more than once.
   */
  async stop(withinMs = STOP_MS): Promise<void> {
    if (this.#code === undefined) {
      this.#child.kill("SIGTERM");
      await this.ended(withinMs).catch(() => {});
    }
    await this.kill();
  }

  /** Kills it and all its children (SIGKILL). When it resolves, no process is left. */
  async kill(): Promise<void> {
    const what = `the end of the processes of ${this.name}`;
    await eventually(() => !killGroup(this.#child.pid), { withinMs: GONE_MS, what });
    await this.#child.status;
    forget(this.#child.pid);
  }
}
