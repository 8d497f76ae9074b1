/**
 * Makes closures of a whole template: its root and its blocks.
 * Source: jinja2 3.1, "compiler".
 * @module
 */

import { compileBody } from "./compile_statements.ts";
import { syntaxError } from "#lib/jinja/syntax/errors.ts";
import { compileExpression } from "./compile_expressions.ts";
import type { FunctionCode, Operations } from "./frame.ts";
import { findAll, type Stmt, type StmtOf, type TemplateNode } from "#lib/jinja/syntax/nodes.ts";
import { superBlock, TemplateReference } from "./references.ts";
import { sequence } from "./results.ts";
import { type CompileProgress, enterScope, functionScope, type Scope, writeSlot } from "./scope.ts";
import { undeclaredNames } from "#lib/jinja/syntax/symbols.ts";

/** A compiled template. It belongs to no environment, and may be cached by its text. */
export interface TemplateCode {
  readonly root: FunctionCode;
  readonly blocks: ReadonlyMap<string, FunctionCode>;
}

/**
 * Compiles the tree of a template.
 * @throws {TemplateError} Kind `syntax`.
 */
export function compileTemplate(node: TemplateNode, operations: Operations): TemplateCode {
  const hasExtends = !findAll(node, "Extends").next().done;
  const blocks = new Map<string, StmtOf<"Block">>();
  for (const block of findAll(node, "Block")) {
    if (blocks.has(block.name)) {
      throw syntaxError(`block '${block.name}' defined twice`, block, "TemplateAssertionError");
    }
    blocks.set(block.name, block);
  }
  const common = { operations, compilers: { expression: compileExpression, body: compileBody } };
  const progress: CompileProgress = { hasExtends, knownExtends: false, extendsSoFar: 0 };
  const root = compileFunction(node.body, functionScope({ ...common, progress, exports: "template", rootLevel: true }));
  return {
    root,
    blocks: new Map(Array.from(blocks, ([name, block]) => {
      const scope = functionScope({
        ...common,
        progress: { ...progress, knownExtends: false },
        exports: "block",
        rootLevel: false,
      });
      return [name, compileFunction(block.body, scope, name)];
    })),
  };
}

/** @param block The name of the block, if it is one. */
function compileFunction(body: readonly Stmt[], scope: Scope, block?: string): FunctionCode {
  const special = undeclaredNames(body, block === undefined ? ["self"] : ["self", "super"]);
  for (const name of special) scope.symbols.declare(name);
  scope.symbols.visitAll(body);
  const setSelf = special.has("self") ? writeSlot(scope, scope.slot("self")) : undefined;
  const setSuper = special.has("super") ? writeSlot(scope, scope.slot("super")) : undefined;
  const run = scope.body(body);
  const enter = enterScope(scope);
  const code: FunctionCode = {
    size: () => scope.symbols.scope.size,
    run: sequence([(frame) => {
      enter(frame);
      setSelf?.(frame, new TemplateReference(frame.context));
      if (block !== undefined) setSuper?.(frame, superBlock(block, frame.context, code));
      return undefined;
    }, run]),
  };
  return code;
}
