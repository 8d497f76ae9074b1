/**
 * The scope of a statement during compilation: its names and the enclosing constructs.
 * Source: jinja2 3.1, "compiler".
 * @module
 */

import type { Obj } from "#lib/python/object.ts";
import type { Eval, Exec, Frame, Operations } from "./frame.ts";
import type { Expr, NodePlace, Stmt } from "#lib/jinja/syntax/nodes.ts";
import type { Position } from "./output.ts";
import { FunctionScope, type Slot, Symbols } from "#lib/jinja/syntax/symbols.ts";

/** The state of a compilation. */
export interface CompileProgress {
  /** Whether it contains a tag `extends`. */
  readonly hasExtends: boolean;
  /** Whether one has certainly been run. */
  knownExtends: boolean;
  /** Number of `extends` tags read so far. */
  extendsSoFar: number;
}

/** Where assignments of a scope are visible outside. */
export type Exports = "template" | "block" | "loop" | "none";

/** Whether printed values are escaped for HTML; `"volatile"`: a variable decides when the template runs. */
export type Autoescape = boolean | "volatile";

/** The functions that compile the parts of a node. */
export interface Compilers {
  readonly expression: (node: Expr, scope: Scope) => Eval;
  readonly body: (nodes: readonly Stmt[], scope: Scope) => Exec;
}

interface ScopeSetup {
  readonly operations: Operations;
  readonly compilers: Compilers;
  readonly progress: CompileProgress;
  readonly symbols: Symbols;
  readonly exports: Exports;
  readonly rootLevel: boolean;
  readonly isSoft: boolean;
  /** Whether a loop is around it in its function. */
  readonly inLoop: boolean;
  /** Whether text is dropped once the template extends another one. */
  readonly checksOutput: boolean;
  readonly autoescape: Autoescape;
  /** The line that Python's Jinja would name. */
  readonly statementLine: number;
}

/** One scope. */
export class Scope implements ScopeSetup {
  readonly operations: Operations;
  readonly compilers: Compilers;
  readonly progress: CompileProgress;
  readonly symbols: Symbols;
  readonly exports: Exports;
  readonly rootLevel: boolean;
  readonly isSoft: boolean;
  readonly inLoop: boolean;
  readonly checksOutput: boolean;
  readonly autoescape: Autoescape;
  readonly statementLine: number;

  constructor(setup: ScopeSetup) {
    this.operations = setup.operations;
    this.compilers = setup.compilers;
    this.progress = setup.progress;
    this.symbols = setup.symbols;
    this.exports = setup.exports;
    this.rootLevel = setup.rootLevel;
    this.isSoft = setup.isSoft;
    this.inLoop = setup.inLoop;
    this.checksOutput = setup.checksOutput;
    this.autoescape = setup.autoescape;
    this.statementLine = setup.statementLine;
  }

  /** The same scope where it may never be run: in an `if`. */
  soft(): Scope {
    return new Scope({ ...this, rootLevel: false, isSoft: true });
  }

  /** The same scope at a statement. */
  at({ line }: NodePlace): Scope {
    return line === this.statementLine ? this : new Scope({ ...this, statementLine: line });
  }

  /** The same scope in a block `autoescape`. */
  escaping(autoescape: Autoescape): Scope {
    return new Scope({ ...this, autoescape });
  }

  /**
   * A scope in this one.
   * @param changes Its own function, or that it is the body of a loop.
   */
  inner(
    changes: { readonly exports?: Exports; readonly ownFunction?: boolean; readonly checksOutput?: boolean } = {},
  ): Scope {
    const { symbols } = this;
    const scope = changes.ownFunction === true ? new FunctionScope(symbols.scope) : symbols.scope;
    return new Scope({
      operations: this.operations,
      compilers: this.compilers,
      progress: this.progress,
      symbols: new Symbols(scope, symbols),
      exports: changes.exports ?? "none",
      rootLevel: false,
      isSoft: false,
      inLoop: changes.exports === "loop" || (changes.ownFunction !== true && this.inLoop),
      checksOutput: changes.checksOutput ?? this.checksOutput,
      autoescape: this.autoescape,
      statementLine: this.statementLine,
    });
  }

  /** The closure of an expression in this scope. */
  expression(node: Expr): Eval {
    return this.compilers.expression(node, this);
  }

  /** The closure of statements in this scope. */
  body(nodes: readonly Stmt[]): Exec {
    return this.compilers.body(nodes, this);
  }

  /** The variable of a name, which the analysis has found. */
  slot(name: string): Slot {
    const slot = this.symbols.find(name);
    if (slot === undefined) throw new Error(`The name ${name} was not found in the analysis of the template`);
    return slot;
  }

  /** The position of a node in the source. */
  position({ line, column }: NodePlace): Position {
    return { line, column, statementLine: this.statementLine };
  }
}

/** The scope of a whole function of a template. */
export function functionScope(how: {
  readonly operations: Operations;
  readonly compilers: Compilers;
  readonly progress: CompileProgress;
  readonly exports: Exports;
  readonly rootLevel: boolean;
}): Scope {
  return new Scope({
    symbols: new Symbols(new FunctionScope(undefined), undefined),
    ...how,
    isSoft: false,
    inLoop: false,
    checksOutput: how.rootLevel && how.progress.hasExtends,
    autoescape: false,
    statementLine: 1,
  });
}

/** How many functions are between a scope and the one that keeps a variable. */
function distance(scope: Scope, slot: Slot): number {
  let count = 0;
  for (let at: FunctionScope | undefined = scope.symbols.scope; at !== slot.scope; at = at?.parent) {
    if (at === undefined) throw new Error("A variable of another template's function was named");
    count++;
  }
  return count;
}

/** A closure that reads a variable. */
export function readSlot(scope: Scope, slot: Slot): (frame: Frame) => Obj | undefined {
  const { place } = slot;
  const far = distance(scope, slot);
  if (far === 0) return (frame) => frame.locals[place];
  if (far === 1) return (frame) => frame.parent?.locals[place];
  return (frame) => {
    let at: Frame | undefined = frame;
    for (let i = 0; i < far; i++) at = at?.parent;
    return at?.locals[place];
  };
}

/** A closure that writes a variable: one of the function itself, since what a function assigns is its own. */
export function writeSlot(scope: Scope, slot: Slot): (frame: Frame, value: Obj) => void {
  if (slot.scope !== scope.symbols.scope) throw new Error("A variable of another template's function was assigned");
  const { place } = slot;
  return (frame, value) => {
    frame.locals[place] = value;
  };
}

/** A closure that sets the initial values of a scope's variables. */
export function enterScope(scope: Scope): (frame: Frame) => void {
  const steps: ((frame: Frame) => void)[] = [];
  for (const [name, load] of scope.symbols.loads) {
    const { place } = scope.slot(name);
    if (load.kind === "resolve") {
      steps.push((frame) => {
        frame.locals[place] = frame.context.resolve(load.name);
      });
    } else if (load.kind === "alias") {
      const read = readSlot(scope, load.of);
      steps.push((frame) => {
        frame.locals[place] = read(frame);
      });
    } else if (load.kind === "undefined") {
      steps.push((frame) => {
        frame.locals[place] = undefined;
      });
    }
  }
  return (frame) => {
    for (let i = 0; i < steps.length; i++) steps[i](frame);
  };
}

/** The variables that are assigned in a scope and around it, as they are now. */
export function assignedVariables(scope: Scope): (frame: Frame) => Map<string, Obj> {
  const reads = Array.from(scope.symbols.assigned(), ([name, slot]) => ({ name, read: readSlot(scope, slot) }));
  return (frame) => {
    const variables = new Map<string, Obj>();
    for (const { name, read } of reads) {
      const value = read(frame);
      if (value !== undefined) variables.set(name, value);
    }
    return variables;
  };
}
