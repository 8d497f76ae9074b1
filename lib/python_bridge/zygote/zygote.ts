/**
 * The process of the host's Python that runs plugins in Python (`helper/zygote.py`), on the daemon's side: started when
 * the first plugin is needed, and again after it has ended. It forks a process for each job, which connects to the
 * job's thread. It ends with the daemon, and when it was idle for five minutes.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { buildEnvironment } from "#lib/programs/command_environment.ts";
import { lstatIfExists } from "#lib/os/atomic_file.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { pluginPython, type PythonChoice } from "./requirements.ts";
import { writeHelper } from "./helper_files.ts";

/** Maximum time to start, in milliseconds. */
const START_MS = 30_000;
/** More processes than a plugin has a use for, and fewer than harm a host. */
const MAX_PROCESSES = 1_000;
/** Maximum number of lines that it prints before it listens: a Python prints none. */
const MAX_EARLY_LINES = 100;
/** Maximum length of a line that the process prints, in UTF-16 units. */
const MAX_LINE = 4_000;

/** The options of the daemon that it needs. */
export interface ZygoteOptions extends PythonChoice {
  readonly sock_dir: string;
  /** Maximum memory of a job, in bytes. */
  readonly custom_module_memory: number;
  /** Maximum number of processes of a job. Default: {@linkcode MAX_PROCESSES}. */
  readonly processes?: number;
}

interface Running {
  readonly child: Deno.ChildProcess;
  /** The Python that it is. */
  readonly program: string;
  readonly path: string;
  /** Resolves when it listens. */
  readonly ready: Promise<void>;
}

/** Starts the process of one daemon when it is needed. */
export class PythonZygote {
  readonly #options: ZygoteOptions;
  readonly #printed: (line: string) => void;
  #running: Promise<Running> | undefined;
  /** Processes of the Python before, whose jobs have not ended. */
  readonly #former = new Set<Running>();
  #closed = false;

  /** @param printed Called with each line that a plugin prints; for a job that hides nothing. */
  constructor(options: ZygoteOptions, printed: (line: string) => void) {
    this.#options = options;
    this.#printed = printed;
  }

  /**
   * The path of its socket.
   * @throws {CommandError} If there is no Python, or it does not start.
   */
  async socket(): Promise<string> {
    if (this.#closed) throw new CommandError("this daemon ends");
    const running = this.#running ??= this.#start();
    try {
      const current = await running;
      await current.ready;
      if (current.program !== pluginPython(this.#options)) this.#former.add(current);
      else if (lstatIfExists(current.path) !== undefined) return current.path;
    } catch (error) {
      if (this.#running === running) this.#running = undefined;
      throw error;
    }
    // Somebody has removed its socket, or it is ending.
    if (this.#running === running) this.#running = undefined;
    return await this.socket();
  }

  async #start(): Promise<Running> {
    const { cachedir, sock_dir, custom_module_memory, processes = MAX_PROCESSES } = this.#options;
    const program = pluginPython(this.#options);
    const directory = await writeHelper(cachedir);
    // `salt-call` may be the first program here.
    Deno.mkdirSync(sock_dir, { recursive: true, mode: 0o755 });
    const path = `${sock_dir}/python_${crypto.randomUUID().slice(0, 8)}.ipc`;
    const child = new Deno.Command(program, {
      // No variables PYTHON*, and no packages of a user; those of the host are wanted.
      args: [
        ...["-E", "-s", "-X", "utf8", `${directory}/zygote.py`],
        ...[path, String(custom_module_memory), String(processes)],
      ],
      cwd: "/",
      env: buildEnvironment({ given: {}, login: {}, clean: false, prependPath: null, resetLocale: false }),
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    child.unref();
    const running: Running = { child, program, path, ready: this.#serve(child, program) };
    void child.status.then(() => {
      if (!this.#former.delete(running)) this.#running = undefined;
    });
    return running;
  }

  /** Reads what it prints, in the background; returns when it listens. */
  async #serve(child: Deno.ChildProcess, program: string): Promise<void> {
    const said: string[] = [];
    const errors = readLines(child.stderr, (line) => said.push(line.slice(0, MAX_LINE)) > 20 && said.shift());
    const started = Promise.withResolvers<void>();
    let early = 0;
    const lines = readLines(child.stdout, (line) => {
      const notice = noticeOf(line);
      if (notice.ready) {
        early = -Infinity;
        started.resolve();
      } else if (early >= 0) {
        if (++early <= MAX_EARLY_LINES) return;
        started.reject(new CommandError(`${program} cannot run plugins: it prints what no Python prints`));
        endProcess(child);
      } else if (notice.printed !== undefined) this.#printed(notice.printed);
    });
    void Promise.all([errors, lines]).then(() =>
      started.reject(new CommandError(`${program} cannot run plugins: ${said.at(-1) ?? "it has ended at once"}`))
    );
    const timer = setTimeout(() => {
      started.reject(new CommandError(`${program} did not start in ${START_MS} ms`));
      endProcess(child);
    }, START_MS);
    try {
      await started.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends it, and with it the processes of jobs. */
  async close(): Promise<void> {
    this.#closed = true;
    const running = await this.#running?.catch(() => undefined);
    await Promise.all(
      [...this.#former, ...running === undefined ? [] : [running]].map(({ child }) => endInTime(child)),
    );
  }
}

/** Time to end after its input is closed, in milliseconds. */
const CLOSE_MS = 1_000;

async function endInTime(child: Deno.ChildProcess): Promise<void> {
  await child.stdin.close().catch(() => {}); // it has ended
  const timer = setTimeout(() => endProcess(child), CLOSE_MS);
  await child.status;
  clearTimeout(timer);
}

function endProcess(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Calls `take` with each line of a stream. A line that does not end is cut. */
async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  let rest = "";
  try {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = (lines.pop() ?? "").slice(0, MAX_LINE * 2);
      for (const line of lines) take(line);
    }
  } catch (error) {
    take(messageOf(error));
  }
  if (rest !== "") take(rest);
}

/** A line that the process prints: JSON. */
function noticeOf(line: string): { readonly ready: boolean; readonly printed?: string } {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return { ready: false, printed: line };
  }
  if (typeof fields !== "object" || fields === null) return { ready: false };
  const printed = "printed" in fields && typeof fields.printed === "string" ? fields.printed : undefined;
  return { ready: "ready" in fields, ...printed !== undefined && { printed } };
}
