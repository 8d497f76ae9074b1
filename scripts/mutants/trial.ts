/**
 * Copies of a tree in which tests run on broken files: never in the tree itself. Every run has a bound of time, and what it
 * started is ended with it.
 * @module
 */

import { broken, type Mutant } from "./find.ts";
import { isGone } from "../../lib/os/deno_texts.ts";

/** What no copy needs. `node_modules` is there by a link. */
const LEFT_OUT: readonly string[] = [".git", ".demo", "dist", "node_modules"];

/** Time to wait for a test's output after its end, in milliseconds. */
const LAST_WORDS_MS = 2_000;

/** How a test file ended. */
export interface Run {
  /** It ran out of time. */
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
  /** The directory for temporary files of the tests; its path says which processes are theirs. */
  readonly #scratch: string;
  readonly #signal: AbortSignal | undefined;

  private constructor(root: string, scratch: string, signal?: AbortSignal) {
    this.root = root;
    this.#scratch = scratch;
    this.#signal = signal;
  }

  /** Copies the tree at `root`. @param signal Ends the run that is under way. */
  static async of(root: string, signal?: AbortSignal): Promise<Copy> {
    const copy = await Deno.makeTempDir({ prefix: "mutants_" });
    await Deno.chmod(copy, 0o755); // services run as other users
    await copyTree(root, copy);
    if (await exists(`${root}/node_modules`)) await Deno.symlink(`${root}/node_modules`, `${copy}/node_modules`);
    return new Copy(copy, await shortDirectory(), signal);
  }

  /** Does `work` with the mutant in its file. */
  async with<T>(mutant: Mutant, work: () => Promise<T>): Promise<T> {
    const path = `${this.root}/${mutant.file}`;
    const source = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, broken(source, mutant));
    try {
      return await work();
    } finally {
      await Deno.writeTextFile(path, source);
    }
  }

  /** Runs a test file, up to its first failure. @param mostMs Then it is ended. */
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
      detached: true, // its own group, which ends as a whole
    }).spawn();
    let late = false;
    const end = () => endGroup(child.pid);
    const timer = setTimeout(() => {
      late = true;
      end();
    }, mostMs);
    this.#signal?.addEventListener("abort", end);
    try {
      const enough = new AbortController();
      const output = Promise.all([bounded(child.stdout, enough.signal), bounded(child.stderr, enough.signal)]);
      const { code } = await child.status;
      end();
      await this.#endOthers();
      // A process that is left nevertheless may hold the other end of the pipes.
      const words = setTimeout(() => enough.abort(), LAST_WORDS_MS);
      const [out, err] = await output;
      clearTimeout(words);
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

  /** Ends what left the group of its test and still has its directory in its environment. Where there is no /proc, nothing. */
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

/** The beginning of what is written, for a mutant may print without end, until it ends or `enough` says so. */
async function bounded(stream: ReadableStream<Uint8Array>, enough: AbortSignal): Promise<string> {
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
      { signal: enough },
    );
  } catch (error) {
    if (!enough.aborted) throw error;
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
 * A new directory for temporary files, of every user as `/tmp` is. Its path is a few characters longer than that: below it are
 * sockets, whose paths have 107 at most.
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
