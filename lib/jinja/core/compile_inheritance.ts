/**
 * Makes closures of blocks and `extends`.
 * Source: jinja2 3.1, "Template Inheritance".
 * @module
 */

import { syntaxError } from "#lib/jinja/syntax/errors.ts";
import { runtimeError } from "./errors.ts";
import { type Exec, Frame } from "./frame.ts";
import type { StmtOf } from "#lib/jinja/syntax/nodes.ts";
import { then } from "./results.ts";
import { assignedVariables, type Scope } from "./scope.ts";

/** The closure that runs a block at its place: the block of the extending template, if it has one. */
export function compileBlockCall(node: StmtOf<"Block">, scope: Scope): Exec | undefined {
  const isTop = scope.exports === "template";
  if (isTop && scope.progress.knownExtends) return undefined;
  const checks = isTop && scope.progress.extendsSoFar > 0;
  const locals = node.scoped ? assignedVariables(scope) : undefined;
  const { name, required } = node;
  const at = scope.position(node);
  return (frame) => {
    if (checks && frame.inheritance.extended) return undefined;
    frame.at = at;
    const stack = frame.context.blocks.get(name) ?? [];
    if (required && stack.length <= 1) throw runtimeError(`Required block '${name}' not found`);
    const context = locals === undefined ? frame.context : frame.context.derived(locals(frame));
    const [{ code, source }] = stack;
    const inner = new Frame(code, { context, source, out: frame.out, caller: frame });
    return then(inner.run(code), () => undefined);
  };
}

/** The closure of `extends`: the blocks of the other template are appended to the existing ones. */
export function compileExtends(node: StmtOf<"Extends">, scope: Scope): Exec {
  if (scope.exports !== "template") {
    throw syntaxError("cannot use extend from a non top-level scope", node, "TemplateAssertionError");
  }
  const evaluate = scope.expression(node.template);
  const at = scope.position(node);
  if (scope.rootLevel) scope.progress.knownExtends = true;
  scope.progress.extendsSoFar++;
  return (frame) => {
    frame.at = at;
    if (frame.inheritance.extended) throw runtimeError("extended multiple times");
    return then(evaluate(frame), (name) => {
      frame.at = at;
      return then(frame.context.environment.getTemplate(name), (template) => {
        for (const [blockName, block] of template.blocks) {
          const stack = frame.context.blocks.get(blockName) ?? [];
          stack.push(block);
          frame.context.blocks.set(blockName, stack);
        }
        frame.inheritance.extended = true;
        frame.inheritance.parent = template;
        return undefined;
      });
    });
  };
}
