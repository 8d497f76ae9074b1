/**
 * A process of this program that answers frames: its input and output are frames (lib/protocol/frames.ts), and what it
 * prints to standard error is kept for the log. It ends alone if it needs too much memory, or too much time.
 * @module
 */

import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { killProcessTree } from "#lib/procfs/process_tree.ts";
import { V8_FLAGS } from "#lib/runtime/self_command.ts";

/** Maximum length of a process's output in the log, in UTF-16 units. */
const MAX_PRINTED = 16_384;

/** What a process is started with, and who takes its answers. */
export interface HelperProcessParts {
  /** The words of its command line. */
  readonly words: readonly string[];
  /** Megabytes of JavaScript's heap: what needs more ends only this process. */
  readonly heapMb: number;
  /** Maximum bytes of an answer. */
  readonly maxAnswer: number;
  /** Called with each answer. */
  answered(content: Uint8Array): void;
  /** Called when its output is no frame, or longer than an answer may be. */
  unreadable(error: unknown): void;
}

/** The end of a process. */
export interface HelperEnd {
  /** `its process ended with 1`, `it needs more than 512 MB of memory` */
  readonly reason: string;
  /** What it printed to standard error; empty if nothing. */
  readonly printed: string;
}

/** A running process. */
export class HelperProcess {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  /** Resolves when it has ended and its output is read. */
  readonly ended: Promise<HelperEnd>;
  #hasEnded = false;

  /** @throws {Error} If it cannot be started. */
  constructor(parts: HelperProcessParts) {
    const [program, ...args] = parts.words;
    // In its own process group, so that Ctrl-C on the terminal of the service signals only the service.
    this.#child = new Deno.Command(program, {
      args,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true,
      env: { DENO_V8_FLAGS: `${V8_FLAGS.replace(/=1\b/, "=8")},--max-old-space-size=${parts.heapMb}` },
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.ended = this.#run(parts);
  }

  async #run(parts: HelperProcessParts): Promise<HelperEnd> {
    const reading = this.#read(parts).catch((error) => parts.unreadable(error));
    const ending = this.#child.status.finally(() => this.#hasEnded = true);
    const [printed, status] = await Promise.all([this.#readPrinted(), ending, reading]);
    const how = status.signal === null ? `with ${status.code}` : `by ${status.signal}`;
    const isOutOfMemory = /heap out of memory|Reached heap limit|Allocation failed/.test(printed);
    const reason = isOutOfMemory ? `it needs more than ${parts.heapMb} MB of memory` : `its process ended ${how}`;
    return { reason, printed: printed.trim() };
  }

  async #read({ maxAnswer, answered }: HelperProcessParts): Promise<void> {
    const frames = new FrameReader(maxAnswer);
    for await (const piece of this.#child.stdout) {
      for (const { content } of frames.push(piece)) answered(content);
    }
  }

  async #readPrinted(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for await (const piece of this.#child.stderr) {
        if (text.length < MAX_PRINTED) {
          text += decoder.decode(piece, { stream: true }).slice(0, MAX_PRINTED - text.length);
        }
      }
    } catch {
      // It has ended.
    }
    return text;
  }

  /** Sends it a frame. */
  write(content: Uint8Array): void {
    this.#input.write(frame(1, content)).catch(() => {}); // it has ended: its status says so
  }

  /** Ends its input: it ends when it has answered what it was sent. May be called more than once. */
  async closeInput(): Promise<void> {
    await this.#input.close().catch(() => {});
  }

  /** Ends it, and the commands that it runs. One that has ended is left alone. */
  kill(): void {
    if (this.#hasEnded) return; // its number may be another process's
    killProcessTree(this.#child.pid);
  }
}
