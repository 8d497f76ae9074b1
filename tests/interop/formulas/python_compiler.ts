/**
 * Python Salt as a compiler of states: one process for all requests, since each start takes a second.
 * @module
 */

import type { Salt } from "#tests/interop/salts.ts";
import { isMap, type ValueMap } from "#lib/values/value.ts";
import { fromTyped, type Typed } from "#tests/support/typed_values.ts";

/** A request to compile. */
export interface CompileRequest {
  readonly sls: string;
  /** The pillar as YAML. */
  readonly pillar: string;
  /**
   * The function that compiles.
   * @default "show_low_sls"
   */
  readonly function?: "show_low_sls" | "show_sls";
  /**
   * Whether the states are applied, in test mode or really.
   * @default they are only compiled
   */
  readonly apply?: "test" | "run";
}

/** Low data, or errors. */
export type CompileAnswer = { readonly low: Typed } | { readonly errors: readonly string[] };

/** Results of states by their tags, or errors. */
export type ApplyAnswer = { readonly results: Typed } | { readonly errors: readonly string[] };

/** The process, for one set of grains. It takes one request at a time. */
export class PythonCompiler implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #read = "";

  /** @param setting The JSON of the first line; compile_states.py documents it. */
  constructor(python: Salt, setting: string) {
    const bin = python.command("salt-call")[0].replace(/[^/]*$/, "");
    const script = decodeURIComponent(new URL("./compile_states.py", import.meta.url).pathname);
    const streams = { stdin: "piped", stdout: "piped", stderr: "null" } as const;
    this.#child = new Deno.Command(`${bin}python`, { args: [script], ...streams }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#write(setting);
  }

  /** Requests low data. */
  async compile(request: CompileRequest): Promise<CompileAnswer> {
    return JSON.parse(await this.#ask(request));
  }

  /** Requests the pillar that the files of these directories give to this host. */
  async pillar(pillar_roots: readonly string[]): Promise<ValueMap> {
    const answer = JSON.parse(await this.#ask({ pillar_roots }));
    const pillar = fromTyped(answer.pillar);
    if (!isMap(pillar)) throw new Error(`no pillar: ${JSON.stringify(answer)}`);
    return pillar;
  }

  /** Requests the names of the renderers that load; Salt takes a file of another one for an empty file. */
  async renderers(): Promise<readonly string[]> {
    return JSON.parse(await this.#ask({ renderers: true })).renderers;
  }

  /** Requests the results of states. */
  async apply(request: CompileRequest): Promise<ApplyAnswer> {
    return JSON.parse(await this.#ask({ apply: "test", ...request }));
  }

  async #ask(
    request: CompileRequest | { readonly renderers: true } | { readonly pillar_roots: readonly string[] },
  ): Promise<string> {
    this.#write(JSON.stringify(request));
    while (!this.#read.includes("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`Python Salt's compiler ended at ${JSON.stringify(request)}`);
      this.#read += value;
    }
    const end = this.#read.indexOf("\n");
    const line = this.#read.slice(0, end);
    this.#read = this.#read.slice(end + 1);
    return line;
  }

  #write(line: string): void {
    this.#writer.write(new TextEncoder().encode(`${line}\n`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#child.status;
  }
}
