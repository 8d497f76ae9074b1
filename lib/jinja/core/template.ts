/**
 * A template that can be rendered, included and imported.
 * Source: jinja2 3.1, "Template".
 * @module
 */

import type { Obj } from "#lib/python/object.ts";
import type { TemplateCode } from "./compile_template.ts";
import { type BlockCode, Context, Frame, type LoadedTemplate, type Maybe, type RuntimeEnvironment } from "./frame.ts";
import { Output, type OutputPiece, type SourceName } from "./output.ts";
import { then } from "./results.ts";
import { TemplateModule } from "./template_module.ts";

/** A text with the sources of its pieces. */
export interface MappedText {
  readonly text: string;
  readonly pieces: readonly OutputPiece[];
}

/** A template of an environment. */
export class Template implements LoadedTemplate {
  /** Its blocks by name. */
  readonly blocks: ReadonlyMap<string, BlockCode>;
  #module: TemplateModule | undefined;

  /** Made by `Environment.fromString`. */
  constructor(readonly environment: RuntimeEnvironment, readonly code: TemplateCode, readonly source: SourceName) {
    this.blocks = new Map(Array.from(code.blocks, ([name, block]) => [name, { code: block, source }]));
  }

  /**
   * The text; at once, if every function that it called answered at once.
   * @throws {TemplateError} And whatever the functions of the host throw.
   */
  render(variables: ReadonlyMap<string, Obj>): Maybe<string> {
    const out = new Output();
    return then(this.run(this.#context(variables), out, undefined), () => out.text);
  }

  /** As {@linkcode render}, with the sources of the pieces of the text. */
  renderMapped(variables: ReadonlyMap<string, Obj>): Maybe<MappedText> {
    const pieces: OutputPiece[] = [];
    const out = new Output(pieces);
    return then(this.run(this.#context(variables), out, undefined), () => ({ text: out.text, pieces }));
  }

  /** Writes its text into that of `frame`, with the variables there. */
  include(frame: Frame, locals: ReadonlyMap<string, Obj>): Maybe<undefined> {
    return this.run(this.#shared(frame, locals), frame.out, frame);
  }

  /** Its module with the variables of `frame`. */
  moduleWith(frame: Frame, locals: ReadonlyMap<string, Obj>): Maybe<TemplateModule> {
    return this.#makeModule(this.#shared(frame, locals), frame);
  }

  /** Its module with the globals alone; made once. */
  defaultModule(frame: Frame): Maybe<TemplateModule> {
    if (this.#module !== undefined) return this.#module;
    return then(this.#makeModule(this.#context(new Map()), frame), (module) => this.#module = module);
  }

  #context(variables: ReadonlyMap<string, Obj>): Context {
    const parent = new Map([...this.environment.globals, ...variables]);
    return new Context(this.environment, this.source, parent, this.#ownBlocks());
  }

  #shared(frame: Frame, locals: ReadonlyMap<string, Obj>): Context {
    const all = frame.context.all();
    const parent = locals.size === 0 ? all : new Map([...all, ...locals]);
    return new Context(this.environment, this.source, parent, this.#ownBlocks());
  }

  #ownBlocks(): [string, BlockCode[]][] {
    return Array.from(this.blocks, ([name, block]) => [name, [block]]);
  }

  #makeModule(context: Context, caller: Frame): Maybe<TemplateModule> {
    const out = new Output();
    return then(this.run(context, out, caller), () => {
      const exported = new Map<string, Obj>();
      for (const name of context.exported) {
        const value = context.vars.get(name);
        if (value !== undefined) exported.set(name, value);
      }
      return new TemplateModule(this.source.name ?? "None", exported, out.text);
    });
  }

  /** Runs it, and then the template that it extends, in one context. */
  run(context: Context, out: Output, caller: Frame | undefined): Maybe<undefined> {
    const { root } = this.code;
    const frame = new Frame(root, { context, source: this.source, out, caller });
    return then(frame.run(root), () => frame.inheritance.parent?.run(context, out, frame));
  }
}
