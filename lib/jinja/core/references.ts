/**
 * Blocks as values: `self.name()` and `super()`.
 * Source: jinja2 3.1, "Template Inheritance".
 * @module
 */

import { type CallContext, type Kwargs, type Obj, PyObject, type Result } from "#lib/python/object.ts";
import { Markup } from "#lib/python/markup.ts";
import { reprOf } from "#lib/python/repr.ts";
import { type BlockCode, type Context, Frame, type FunctionCode } from "./frame.ts";
import { Output } from "./output.ts";
import { then } from "./results.ts";

/** `self`: the blocks of the template by name. */
export class TemplateReference extends PyObject {
  readonly typeName = "TemplateReference";
  readonly #context: Context;

  constructor(context: Context) {
    super();
    this.#context = context;
  }

  override get typeDescription(): string {
    return "jinja2.runtime.TemplateReference object";
  }

  override getitem(key: Obj): Obj | undefined {
    const stack = typeof key === "string" ? this.#context.blocks.get(key) : undefined;
    return stack === undefined ? undefined : new BlockReference(String(key), this.#context, stack, 0);
  }

  override truth(): boolean {
    return true;
  }

  override repr(): string {
    return `<TemplateReference ${reprOf(this.#context.source.name ?? null)}>`;
  }
}

/** One block, which is rendered by calling it. */
class BlockReference extends PyObject {
  readonly typeName = "BlockReference";
  readonly #name: string;
  readonly #context: Context;
  readonly #stack: readonly BlockCode[];
  readonly #depth: number;

  constructor(name: string, context: Context, stack: readonly BlockCode[], depth: number) {
    super();
    this.#name = name;
    this.#context = context;
    this.#stack = stack;
    this.#depth = depth;
  }

  override get typeDescription(): string {
    return "jinja2.runtime.BlockReference object";
  }

  override getattr(name: string): Obj | undefined {
    if (name === "name") return this.#name;
    return name === "super" ? blockAt(this.#name, this.#context, this.#stack, this.#depth + 1) : undefined;
  }

  override get callable(): boolean {
    return true;
  }

  override truth(): boolean {
    return true;
  }

  override call(_args: readonly Obj[], _kwargs: Kwargs, caller: CallContext): Result {
    const { code, source } = this.#stack[this.#depth];
    const context = this.#context;
    const out = new Output();
    const frame = new Frame(code, { context, source, out, caller: caller instanceof Frame ? caller : undefined });
    return then(frame.run(code), () => context.escaping.on ? new Markup(out.text) : out.text);
  }
}

function blockAt(name: string, context: Context, stack: readonly BlockCode[], depth: number): Obj {
  if (depth < stack.length) return new BlockReference(name, context, stack, depth);
  return context.environment.undefined({ hint: `there is no parent block called '${name}'.`, key: "super" });
}

/** `super` in the block `current`. */
export function superBlock(name: string, context: Context, current: FunctionCode): Obj {
  const stack = context.blocks.get(name) ?? [];
  const at = stack.findIndex(({ code }) => code === current);
  return blockAt(name, context, stack, at < 0 ? stack.length : at + 1);
}
