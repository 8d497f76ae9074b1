/**
 * A program that runs on and on, and writes a line for everything that it tells. It is started again when it ends.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** What a {@linkcode ProgramLines} reports to. */
export interface LinesListener {
  /** Lines that it wrote, without their ends. */
  onLines(lines: readonly string[]): void;
  /** It ended, or could not be started; it is started again later. */
  onEnd(reason: string): void;
}

/** A longer line is left out, in UTF-16 units. */
const MAX_LINE = 1 << 20;
/** Characters of its errors that a reason has. */
const MAX_ERRORS = 300;
/** Time before the next start, in milliseconds: at first, and at most. It doubles while the program ends at once. */
const RESTART_MS = [1_000, 60_000] as const;
/** A program that ran as long, in milliseconds, did not end at once. */
const LONG_MS = 60_000;

/** Runs one program until it is closed. */
export class ProgramLines {
  readonly #argv: readonly string[];
  readonly #listener: LinesListener;
  #child: Deno.ChildProcess | undefined;
  #timer: Timer | undefined;
  #waitMs: number = RESTART_MS[0];
  #closed = false;

  constructor(argv: readonly string[], listener: LinesListener) {
    this.#argv = argv;
    this.#listener = listener;
    this.#start();
  }

  #start(): void {
    this.#run().catch((error) => messageOf(error)).then((reason) => this.#onEnd(reason));
  }

  /** @returns Why it ended. */
  async #run(): Promise<string> {
    const [program, ...args] = this.#argv;
    const startMs = performance.now();
    const env = { LC_ALL: "C", SYSTEMD_COLORS: "0" };
    const child = this.#child = new Deno.Command(program, {
      args,
      env,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    })
      .spawn();
    const [, errors, { code, signal }] = await Promise.all([
      this.#readLines(child.stdout),
      readStart(child.stderr),
      child.status,
    ]);
    if (performance.now() - startMs > LONG_MS) this.#waitMs = RESTART_MS[0];
    return `${program} ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}${errors && `: ${errors}`}`;
  }

  async #readLines(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "", isTooLong = false;
    for await (const bytes of stream) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (isTooLong && lines.length > 0) {
        lines.shift();
        isTooLong = false;
      }
      if (rest.length > MAX_LINE) isTooLong = true;
      if (isTooLong) rest = "";
      if (lines.length > 0 && !this.#closed) this.#listener.onLines(lines);
    }
  }

  #onEnd(reason: string): void {
    this.#child = undefined;
    if (this.#closed) return;
    this.#listener.onEnd(reason);
    this.#timer = setTimeout(() => this.#start(), this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, RESTART_MS[1]);
  }

  /** Ends it. May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    try {
      this.#child?.kill("SIGTERM");
    } catch (error) {
      // It has ended meanwhile.
      if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** The beginning of a stream as text; the rest is read and dropped. */
async function readStart(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    if (text.length < MAX_ERRORS) text += decoder.decode(bytes, { stream: true });
  }
  return text.slice(0, MAX_ERRORS).trim();
}
