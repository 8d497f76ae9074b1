/**
 * Makes closures of macros and call blocks.
 * Source: jinja2 3.1, "compiler".
 * @module
 */

import { strOf } from "#lib/python/repr.ts";
import { compileCall } from "./compile_calls.ts";
import { syntaxError } from "#lib/jinja/syntax/errors.ts";
import { Macro, type MacroCode } from "./macro.ts";
import type { Stmt, StmtOf } from "#lib/jinja/syntax/nodes.ts";
import type { Exec } from "./frame.ts";
import { sequence, then } from "./results.ts";
import { enterScope, readSlot, type Scope, writeSlot } from "./scope.ts";
import { undeclaredNames } from "#lib/jinja/syntax/symbols.ts";

const SPECIAL = ["caller", "kwargs", "varargs"] as const;

function compileMacroCode(node: StmtOf<"Macro" | "CallBlock">, scope: Scope): MacroCode {
  const inner = scope.inner({ ownFunction: true, checksOutput: false });
  const parameters = node.args.map(({ name }) => name);
  const undeclared = undeclaredNames(node.body as Stmt[], SPECIAL);
  const explicitCaller = parameters.indexOf("caller");
  if (undeclared.has("caller") && explicitCaller >= 0 && explicitCaller < parameters.length - node.defaults.length) {
    const message =
      'When defining macros or call blocks the special "caller" argument must be omitted or be given a default.';
    throw syntaxError(message, node, "TemplateAssertionError");
  }
  const special = SPECIAL.filter((name) => undeclared.has(name) && !parameters.includes(name));
  const names = [...parameters, ...special];
  inner.symbols.visitAll([...node.args, ...node.defaults, ...node.body]);
  for (const name of special) inner.symbols.declare(name);
  const writes = names.map((name) => writeSlot(inner, inner.slot(name)));
  const enter = enterScope(inner);
  const defaults = sequence(parameters.map((name, i): Exec => compileDefault(node, inner, { name, i })));
  const body = inner.body(node.body);
  return {
    name: node.type === "Macro" ? node.name : undefined,
    parameters,
    usesCaller: undeclared.has("caller"),
    usesKwargs: special.includes("kwargs"),
    usesVarargs: special.includes("varargs"),
    size: () => inner.symbols.scope.size,
    bind: (frame, values) => {
      enter(frame);
      values.forEach((value, i) => {
        if (value !== undefined) writes[i](frame, value);
      });
    },
    run: sequence([defaults, body]),
  };
}

/** Gives a parameter its default, if it was not given. */
function compileDefault(
  node: StmtOf<"Macro" | "CallBlock">,
  scope: Scope,
  { name, i }: { readonly name: string; readonly i: number },
): Exec {
  const slot = scope.slot(name);
  const read = readSlot(scope, slot), write = writeSlot(scope, slot);
  const fallback = node.defaults[i - node.args.length + node.defaults.length];
  const evaluate = fallback === undefined ? undefined : scope.at(fallback).expression(fallback);
  return (frame) => {
    if (read(frame) !== undefined) return undefined;
    const value = evaluate === undefined
      ? frame.context.environment.undefined({ hint: `parameter '${name}' was not provided`, key: name })
      : evaluate(frame);
    return then(value, (made) => {
      write(frame, made);
      return undefined;
    });
  };
}

/** The closure that defines a macro. */
export function compileMacro(node: StmtOf<"Macro">, scope: Scope): Exec {
  const code = compileMacroCode(node, scope);
  const write = writeSlot(scope, scope.slot(node.name));
  const { name } = node;
  const isTop = scope.exports === "template";
  return (frame) => {
    const macro = new Macro(code, frame);
    write(frame, macro);
    if (isTop) {
      frame.context.vars.set(name, macro);
      if (!name.startsWith("_")) frame.context.exported.add(name);
    }
    return undefined;
  };
}

/** The closure of `{% call f() %}`: the call gets its body as `caller`. */
export function compileCallBlock(node: StmtOf<"CallBlock">, scope: Scope): Exec {
  const code = compileMacroCode(node, scope);
  const at = scope.position(node);
  const call = compileCall(node.call, scope, (frame) => new Map([["caller", new Macro(code, frame)]]));
  return (frame) =>
    then(call(frame), (value) => {
      frame.at = at;
      frame.out.write(strOf(value), { source: frame.source, at, literal: false });
      return undefined;
    });
}
