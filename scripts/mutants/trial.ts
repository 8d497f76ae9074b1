/**
 * Runs tests with mutants in copies of a tree, never in the tree itself. Every run has a time limit, and the processes
 * that it started are ended with it.
 * @module
 */

import { applyMutant, type Mutant } from "./find.ts";
import { isGone } from "#lib/os/deno_texts.ts";

/** Directories that no copy needs. `node_modules` is a link. */
const LEFT_OUT: readonly string[] = [".git", ".demo", "dist", "node_modules"];

/** Time to wait for a test's output after its end, in milliseconds. */
const OUTPUT_WAIT_MS = 2_000;

/** The result of a run of a test file. */
export interface Run {
  readonly late: boolean;
  /** Whether all its tests passed. */
  readonly passed: boolean;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  /** What it printed. */
  readonly output: string;
}

/** A copy of the tree, in which one mutant at a time is tried. */
export class Copy {
  readonly root: string;
  /** The directory for temporary files of the tests. Its path identifies the processes of the tests. */
  readonly #scratch: string;
  readonly #signal: AbortSignal | undefined;

  private constructor(root: string, scratch: string, signal?: AbortSignal) {
    this.root = root;
    this.#scratch = scratch;
    this.#signal = signal;
  }

  /**
   * Copies the tree at `root`.
   * @param signal Ends the current run of a test.
   */
  static async of(root: string, signal?: AbortSignal): Promise<Copy> {
    const copy = await Deno.makeTempDir({ prefix: "mutants_" });
    await Deno.chmod(copy, 0o755); // services run as other users
    await copyTree(root, copy);
    if (await exists(`${root}/node_modules`)) await Deno.symlink(`${root}/node_modules`, `${copy}/node_modules`);
    return new Copy(copy, await shortDirectory(), signal);
  }

  /** Runs `work` while the file contains the mutant. */
  async with<T>(mutant: Mutant, work: () => Promise<T>): Promise<T> {
    const path = `${this.root}/${mutant.file}`;
    const source = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, applyMutant(source, mutant));
    try {
      return await work();
    } finally {
      await Deno.writeTextFile(path, source);
    }
  }

  /**
   * Runs a test file, up to its first failure.
   * @param mostMs Its time limit, in milliseconds.
   */
  async run(test: string, mostMs: number): Promise<Run> {
    this.#signal?.throwIfAborted();
    const started = performance.now();
    const child = new Deno.Command(Deno.execPath(), {
      args: ["test", "--allow-all", "--no-check", "--quiet", "--fail-fast", test],
      cwd: this.root,
      env: { NO_COLOR: "1", TMPDIR: this.#scratch },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      detached: true, // its own process group, which is ended as a whole
    }).spawn();
    let late = false;
    const end = () => endGroup(child.pid);
    const timer = setTimeout(() => {
      late = true;
      end();
    }, mostMs);
    this.#signal?.addEventListener("abort", end);
    try {
      const stop = new AbortController();
      const output = Promise.all([readBounded(child.stdout, stop.signal), readBounded(child.stderr, stop.signal)]);
      const { code } = await child.status;
      end();
      await this.#endOthers();
      // A process that still runs may hold the other end of the pipes.
      const timer = setTimeout(() => stop.abort(), OUTPUT_WAIT_MS);
      const [out, err] = await output;
      clearTimeout(timer);
      this.#signal?.throwIfAborted(); // a killed process has no result
      return { late, passed: code === 0 && !late, ms: performance.now() - started, output: out + err };
    } finally {
      clearTimeout(timer);
      this.#signal?.removeEventListener("abort", end);
      await this.#sweep();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
    await Deno.remove(this.#scratch, { recursive: true });
  }

  /**
   * Ends the processes that left the process group of the test, but still have its directory in their environment. Does
   * nothing on a system without /proc.
   */
  async #endOthers(): Promise<void> {
    if (Deno.build.os !== "linux") return;
    for (const { name } of Deno.readDirSync("/proc")) {
      if (!/^\d+$/.test(name) || Number(name) === Deno.pid) continue;
      try {
        const environment = await Deno.readTextFile(`/proc/${name}/environ`);
        if (environment.split("\0").includes(`TMPDIR=${this.#scratch}`)) Deno.kill(Number(name), "SIGKILL");
      } catch (error) {
        if (!isGone(error) && !(error instanceof Deno.errors.PermissionDenied)) throw error;
      }
    }
  }

  async #sweep(): Promise<void> {
    for (const { name } of [...Deno.readDirSync(this.#scratch)]) {
      try {
        await Deno.remove(`${this.#scratch}/${name}`, { recursive: true });
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
  }
}

function endGroup(pid: number): void {
  try {
    Deno.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Reads the beginning of the output, until it ends or `stop` is aborted: a mutant may print without end. */
async function readBounded(stream: ReadableStream<Uint8Array>, stop: AbortSignal): Promise<string> {
  const max = 1 << 16;
  const decoder = new TextDecoder();
  let text = "";
  try {
    await stream.pipeTo(
      new WritableStream({
        write: (part) => {
          if (text.length < max) text += decoder.decode(part, { stream: true });
        },
      }),
      { signal: stop },
    );
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return text.slice(0, max);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * A new directory for temporary files, writable for every user like `/tmp`. Its path is short, because it contains
 * sockets, whose paths have at most 107 characters.
 */
async function shortDirectory(): Promise<string> {
  const parent = Deno.env.get("TMPDIR") ?? "/tmp";
  for (;;) {
    const path = `${parent}/m${crypto.randomUUID().slice(0, 5)}`;
    try {
      await Deno.mkdir(path);
      await Deno.chmod(path, 0o1777);
      return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  for await (const { name, isDirectory, isFile, isSymlink } of Deno.readDir(from)) {
    if (LEFT_OUT.includes(name)) continue;
    if (isDirectory) {
      await Deno.mkdir(`${to}/${name}`);
      await copyTree(`${from}/${name}`, `${to}/${name}`);
    }
    if (isFile) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
    if (isSymlink) await Deno.symlink(await Deno.readLink(`${from}/${name}`), `${to}/${name}`);
  }
}
