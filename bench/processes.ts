/**
 * Programs as the benchmark runs them: commands that are timed, and services that are ended by their process id.
 * @module
 */

/** The same surroundings for every implementation. */
const ENVIRONMENT = { NO_COLOR: "1", LC_ALL: "C.UTF-8", PYTHONWARNINGS: "ignore" };

/** A command that has ended. */
export interface Ran {
  /** Exit code. */
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
  /** From its start to its end, in milliseconds. */
  readonly ms: number;
}

/** How long a command may take, in milliseconds. */
const RUN_MS = 180_000;

/** Runs a command to its end. @throws {Error} If its exit code is not 0, or it takes longer than three minutes. */
export async function run(words: readonly string[]): Promise<Ran> {
  const [command, ...args] = words;
  const started = performance.now();
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args,
    env: ENVIRONMENT,
    stdin: "null",
    signal: AbortSignal.timeout(RUN_MS),
  }).output();
  const ms = performance.now() - started;
  const ran = { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr), ms };
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}:\n${ran.out}${ran.err}`);
  return ran;
}

/** How long a service may take to end, in milliseconds. */
const STOP_MS = 20_000;

/** A program that runs until it is stopped. */
export class Service {
  readonly #child: Deno.ChildProcess;
  readonly #output: string;
  #ended = false;

  private constructor(child: Deno.ChildProcess, output: string) {
    this.#child = child;
    this.#output = output;
    void child.status.then(() => this.#ended = true);
  }

  /** Starts `words`; the file `output` takes what it writes. */
  static start(words: readonly string[], output: string): Service {
    Deno.writeTextFileSync(output, "", { append: true });
    // `exec` keeps the process id. A group of its own, so that what it forks ends with it.
    const child = new Deno.Command("/bin/sh", {
      args: ["-c", 'output=$1; shift; exec "$@" </dev/null >>"$output" 2>&1', "sh", output, ...words],
      env: ENVIRONMENT,
      stdin: "null",
      stdout: "null",
      stderr: "null",
      detached: true,
    }).spawn();
    return new Service(child, output);
  }

  /** Its process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Whether it still runs. */
  get running(): boolean {
    return !this.#ended;
  }

  /** What it has written so far. */
  get output(): string {
    return Deno.readTextFileSync(this.#output);
  }

  /** Asks it to end, and kills what is left then. Twice is fine. */
  async stop(): Promise<void> {
    if (!this.#ended) {
      this.#child.kill("SIGTERM");
      const late = setTimeout(() => this.#killGroup(), STOP_MS);
      await this.#child.status;
      clearTimeout(late);
    }
    this.#killGroup();
  }

  /** Kills it and all that it started, with no chance to clean up. */
  async kill(): Promise<void> {
    this.#killGroup();
    await this.#child.status;
  }

  #killGroup(): void {
    try {
      Deno.kill(-this.#child.pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** Looks again this often, in milliseconds. */
const LOOK_MS = 20;

/** Asks until the answer is neither `undefined` nor `false`. @throws {Error} If that does not come within `withinMs`. */
export async function until<T>(
  ask: () => T | Promise<T>,
  patience: { readonly what: string; readonly withinMs: number },
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + patience.withinMs;
  do {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  } while (performance.now() < deadline);
  throw new Error(`waited ${patience.withinMs} ms for ${patience.what}`);
}
