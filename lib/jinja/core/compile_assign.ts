/**
 * Makes closures that assign: to names, tuples of them, and attributes of a namespace.
 * @module
 */

import { unpackItems } from "#lib/python/iterate.ts";
import type { Obj } from "#lib/python/object.ts";
import { runtimeError } from "./errors.ts";
import type { Frame } from "./frame.ts";
import { Namespace } from "./globals.ts";
import type { Expr } from "#lib/jinja/syntax/nodes.ts";
import { readSlot, type Scope, writeSlot } from "./scope.ts";

/** A closure that assigns a value. */
export type Assign = (frame: Frame, value: Obj) => void;

/** The closure that assigns to `target`. */
export function compileTarget(target: Expr, scope: Scope): Assign {
  if (target.type === "Name") return writeSlot(scope, scope.slot(target.name));
  if (target.type === "NSRef") {
    const read = readSlot(scope, scope.slot(target.name));
    return (frame, value) => {
      const namespace = read(frame);
      if (namespace instanceof Namespace) namespace.set(target.attr, value);
    };
  }
  const parts = target.type === "Tuple" ? target.items.map((item) => compileTarget(item, scope)) : [];
  const at = scope.position(target);
  return (frame, value) => {
    frame.at = at;
    const items = unpackItems(value, parts.length);
    for (let i = 0; i < parts.length; i++) parts[i](frame, items[i]);
  };
}

function names(target: Expr, type: "Name" | "NSRef"): string[] {
  if (target.type === type) return [target.name];
  return target.type === "Tuple" ? target.items.flatMap((item) => names(item, type)) : [];
}

/** Refuses an assignment to an attribute of anything but a namespace, before the value is evaluated. */
export function compileNamespaceCheck(target: Expr, scope: Scope): ((frame: Frame) => void) | undefined {
  const refs = [...new Set(names(target, "NSRef"))];
  if (refs.length === 0) return undefined;
  const reads = refs.map((name) => readSlot(scope, scope.slot(name)));
  return (frame) => {
    if (reads.every((read) => read(frame) instanceof Namespace)) return;
    throw runtimeError("cannot assign attribute on non-namespace object");
  };
}

/** Exports the assignments to `target`, if assignments of the scope are visible outside. */
export function compileExport(target: Expr, scope: Scope): ((frame: Frame) => void) | undefined {
  const assigned = [...new Set(names(target, "Name"))];
  if (scope.exports === "none" || assigned.length === 0) return undefined;
  const reads = assigned.map((name) => ({
    name,
    read: readSlot(scope, scope.slot(name)),
    isPublic: !name.startsWith("_"),
  }));
  const { exports } = scope;
  return (frame) => {
    for (const { name, read, isPublic } of reads) {
      const value = read(frame);
      if (value === undefined) continue;
      if (exports === "loop") (frame.loopVars ??= new Map()).set(name, value);
      else if (exports === "block") (frame.blockVars ??= new Map()).set(name, value);
      else {
        frame.context.vars.set(name, value);
        if (isPublic) frame.context.exported.add(name);
      }
    }
  };
}
