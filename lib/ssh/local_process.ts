/**
 * A process on this host that runs a function elsewhere, in another root directory: its lines with the mark, and its
 * messages.
 * @module
 */

import { KeptText } from "./kept_text.ts";
import { type MarkedLine, MarkedOutput } from "./marked_output.ts";
import type { HostChannel } from "./follow_host.ts";
import { killGroup } from "#lib/procfs/process_tree.ts";

/** A process that ended before its function returned. */
export class EarlyEndError extends Error {
  override name = "EarlyEndError";
  /** Its exit code. */
  readonly retcode: number;
  /** What it wrote before it began. */
  readonly stdout: string;
  readonly stderr: string;

  constructor(when: string, { retcode, stdout, stderr }: Pick<EarlyEndError, "retcode" | "stdout" | "stderr">) {
    super(`The process ended with ${retcode} ${when}: ${stderr.trim()}`);
    this.retcode = retcode;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/** The process. It is the leader of a process group, which ends with it. */
export class LocalProcess implements HostChannel, AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #output: MarkedOutput;
  readonly #errors = new KeptText();
  readonly #read: Promise<void>;

  /** @param env The whole environment. */
  constructor(words: readonly string[], { mark, env }: {
    readonly mark: string;
    readonly env: Readonly<Record<string, string>>;
  }) {
    const [program, ...args] = words;
    const pipes = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
    this.#child = new Deno.Command(program, { args, env, clearEnv: true, detached: true, ...pipes }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#output = new MarkedOutput(this.#child.stdout.getReader(), { mark, onPiece: () => {} });
    this.#read = this.#errors.readAll(this.#child.stderr);
    // Awaited when the process has ended; until then it must not be unhandled.
    this.#read.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid;
  }

  /**
   * The next line with the mark.
   * @throws {EarlyEndError} If the process ends without one.
   */
  line(): Promise<MarkedLine> {
    return this.#output.line((when) => this.failure(when));
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#output.next();
  }

  /** Writes to its input; a process that has ended does not read it. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#input.write(new Uint8Array(bytes)).catch(() => {});
  }

  /** The error for an end that comes too early, when it has come. */
  async failure(when: string): Promise<EarlyEndError> {
    const { code } = await this.#child.status;
    await this.#read;
    return new EarlyEndError(when, { retcode: code, stdout: this.#output.noise, stderr: this.#errors.text });
  }

  /** Ends it with all that it has started. */
  kill(): void {
    killGroup(this.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close().catch(() => {});
    this.kill();
    await this.#child.status;
    await this.#read.catch(() => {});
  }
}
