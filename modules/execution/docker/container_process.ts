/**
 * A program in a container that is spoken with while it runs: its lines with the mark, and its messages.
 * Source: docs.docker.com, "Docker Engine API v1.41", "Exec".
 * @module
 */

import { type DockerEngine, DockerError } from "#lib/host/docker/engine.ts";
import type { AttachedConnection } from "#lib/host/docker/attached_connection.ts";
import { outputFrames } from "#lib/host/docker/output_frames.ts";
import type { HostChannel } from "#lib/ssh/follow_host.ts";
import { KeptText } from "#lib/ssh/kept_text.ts";
import { EarlyEndError } from "#lib/ssh/local_process.ts";
import { type MarkedLine, MarkedOutput } from "#lib/ssh/marked_output.ts";
import type { Value } from "#lib/values/value.ts";
import { attachExec, execState, makeExec, refusedProgram } from "./running.ts";

/** The program. Its input ends with it. */
export class ContainerProcess implements HostChannel, Disposable {
  readonly #engine: DockerEngine;
  readonly #id: string;
  readonly #connection: AttachedConnection;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #given: Promise<void>;
  readonly #output: MarkedOutput;
  readonly #errors: KeptText;

  private constructor(engine: DockerEngine, id: string, connection: AttachedConnection, mark: string) {
    this.#engine = engine;
    this.#id = id;
    this.#connection = connection;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#input = writable.getWriter();
    this.#given = connection.input(readable);
    // Awaited when the program has ended; until then it must not be unhandled.
    this.#given.catch(() => {});
    const errors = new KeptText();
    this.#errors = errors;
    const reader = ReadableStream.from(standardOutput(connection, errors)).getReader();
    this.#output = new MarkedOutput(reader, { mark, onPiece: () => {} });
  }

  /**
   * Starts one.
   * @param more Fields of the engine: `Cmd`, `Env`, `User` …
   * @throws {EarlyEndError} If it cannot be started there.
   */
  static async start(
    engine: DockerEngine,
    name: string,
    { mark, ...more }: Readonly<Record<string, Value>> & { readonly mark: string },
  ): Promise<ContainerProcess> {
    const id = await makeExec(engine, name, more);
    try {
      return new ContainerProcess(engine, id, await attachExec(engine, id), mark);
    } catch (error) {
      if (!(error instanceof DockerError)) throw error;
      const { retcode, text } = refusedProgram(error);
      throw new EarlyEndError("before it began", { retcode, stdout: "", stderr: text });
    }
  }

  /** The id by which the engine knows it. */
  get id(): string {
    return this.#id;
  }

  /**
   * The next line with the mark.
   * @throws {EarlyEndError} If the program ends without one.
   */
  line(): Promise<MarkedLine> {
    return this.#output.line((when) => this.failure(when));
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#output.next();
  }

  /** Writes to its input; a program that has ended does not read it. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#input.write(bytes).catch(() => {});
  }

  /** The error for an end that comes too early. */
  async failure(when: string): Promise<EarlyEndError> {
    const { retcode } = await execState(this.#engine, this.#id);
    return new EarlyEndError(when, { retcode, stdout: this.#output.noise, stderr: this.#errors.text });
  }

  [Symbol.dispose](): void {
    this.#input.close().catch(() => {});
    this.#connection[Symbol.dispose]();
  }
}

/** The standard output; what comes on the other stream is kept. */
async function* standardOutput(
  { output }: AttachedConnection,
  errors: KeptText,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const { stream, bytes } of outputFrames(output)) {
    if (stream === "stdout") yield new Uint8Array(bytes);
    else errors.add(bytes);
  }
}
