/**
 * One run of a function of a compiled template: its variables, its output, and its position.
 * @module
 */

import { countStep } from "#lib/values/stop_word.ts";
import { pythonError } from "#lib/python/errors.ts";
import type { CallContext, Kwargs, Obj, Result, Run } from "#lib/python/object.ts";
import { atFrame, runtimeError } from "./errors.ts";
import type { Output, Position, SourceName } from "./output.ts";
import type { TemplateModule } from "./template_module.ts";
import type { Undefined, Undefinition } from "./undefined.ts";

/** A value or a promise of it. */
export type Maybe<T> = T | Promise<T>;

/** A compiled expression. */
export type Eval = (frame: Frame) => Result;

/** The effect of a statement on the loop around it; `undefined`: none. */
export type Flow = "break" | "continue" | undefined;

/** A compiled statement. */
export type Exec = (frame: Frame) => Maybe<Flow>;

/** All filters and tests. */
export interface Operations {
  readonly filters: ReadonlyMap<string, Run>;
  readonly tests: ReadonlyMap<string, Run>;
}

/** The parts of the environment that running templates use. */
export interface RuntimeEnvironment {
  /** Maximum number of steps of one rendering. */
  readonly maxSteps: number;
  readonly operations: Operations;
  readonly newline: string;
  readonly globals: ReadonlyMap<string, Obj>;
  readonly finalize: ((value: Obj) => Obj) | undefined;
  /** `obj.name` */
  attribute(obj: Obj, name: string): Result;
  /** `obj[key]` */
  item(obj: Obj, key: Obj): Result;
  /** An undefined value. */
  undefined(what: Omit<Undefinition, "kind">): Undefined;
  /**
   * The template of a name.
   * @throws {TemplateError} Kind `notFound`.
   */
  getTemplate(name: Obj): Maybe<LoadedTemplate>;
  /**
   * The first of several names that exists.
   * @throws {TemplateError} Kind `notFound`.
   */
  getOrSelectTemplate(names: Obj): Maybe<LoadedTemplate>;
}

/** A template as another one uses it. */
export interface LoadedTemplate {
  readonly blocks: ReadonlyMap<string, BlockCode>;
  /** Runs it in the context of one that extends it. */
  run(context: Context, out: Output, caller: Frame | undefined): Maybe<undefined>;
  /** Writes its text into that of `frame`, with the variables there. */
  include(frame: Frame, locals: ReadonlyMap<string, Obj>): Maybe<undefined>;
  /** Its module with the variables of `frame`. */
  moduleWith(frame: Frame, locals: ReadonlyMap<string, Obj>): Maybe<TemplateModule>;
  /** Its module with the globals alone; made once. */
  defaultModule(frame: Frame): Maybe<TemplateModule>;
}

/** A block of a template. */
export interface BlockCode {
  readonly code: FunctionCode;
  readonly source: SourceName;
}

/** The state of inheritance of a template. */
export interface Inheritance {
  /** Set once `extends` was run. */
  extended: boolean;
  /** The template that it extends. */
  parent?: LoadedTemplate;
}

/** A function of a compiled template. */
export interface FunctionCode {
  /** Number of variables of its frames. */
  readonly size: () => number;
  readonly run: Exec;
}

/** Whether printed values are escaped for HTML; contexts of one template share it. */
export interface Escaping {
  on: boolean;
}

/**
 * The variables of one rendered template, and the blocks of it and of those that it extends.
 * Source: jinja2 3.1, "Context".
 */
export class Context {
  /** Variables that the template has assigned at top level. */
  readonly vars = new Map<string, Obj>();
  /** The names of these that others may import. */
  readonly exported = new Set<string>();
  /** For each name the template's own block first, then those of the templates that it extends. */
  readonly blocks: Map<string, BlockCode[]>;
  /** The current value of `autoescape`. */
  escaping: Escaping = { on: false };

  constructor(
    readonly environment: RuntimeEnvironment,
    /** The name of the source, for messages. */
    readonly source: SourceName,
    /** Globals and the variables of the render. */
    readonly parent: ReadonlyMap<string, Obj>,
    blocks: Iterable<readonly [string, readonly BlockCode[]]>,
  ) {
    this.blocks = new Map(Array.from(blocks, ([name, codes]) => [name, [...codes]]));
  }

  /** The variable; `undefined` if there is none. */
  resolve(name: string): Obj | undefined {
    const own = this.vars.get(name);
    return own === undefined ? this.parent.get(name) : own;
  }

  /** All variables. */
  all(): ReadonlyMap<string, Obj> {
    return this.vars.size === 0 ? this.parent : new Map([...this.parent, ...this.vars]);
  }

  /** A context of the same template with more variables. */
  derived(locals: ReadonlyMap<string, Obj>): Context {
    const more = new Map([...this.all(), ...locals]);
    const context = new Context(this.environment, this.source, more, this.blocks);
    context.escaping = this.escaping;
    return context;
  }
}

/** Deeper calls of macros, blocks, includes and recursive loops are refused. */
const DEEPEST = 200;

/** The steps of one rendering so far: passes of loops, calls, filters and tests, also in macros and other templates. */
interface Steps {
  count: number;
}

const START: Position = { line: 1, column: 1, statementLine: 1 };

export interface FrameSetup {
  readonly context: Context;
  readonly source: SourceName;
  readonly out: Output;
  /** The calling frame. */
  readonly caller: Frame | undefined;
  /** The frame of the function around, whose variables it sees. */
  readonly parent?: Frame;
}

/** One run. Functions that it calls get it as their context. */
export class Frame implements CallContext {
  readonly locals: (Obj | undefined)[];
  readonly context: Context;
  readonly source: SourceName;
  readonly parent: Frame | undefined;
  readonly depth: number;
  readonly inheritance: Inheritance;
  readonly #steps: Steps;
  out: Output;
  /** The place of the running operation. */
  at: Position = START;
  /** Variables of this iteration of the loop, and of this block. */
  loopVars: Map<string, Obj> | undefined;
  blockVars: Map<string, Obj> | undefined;
  /** The text of a block for a filter. */
  captured = "";

  constructor(code: FunctionCode, { context, source, out, caller, parent }: FrameSetup) {
    this.locals = new Array(code.size()).fill(undefined);
    this.context = context;
    this.source = source;
    this.parent = parent;
    this.out = out;
    this.depth = (caller?.depth ?? 0) + 1;
    const around = caller ?? parent;
    this.#steps = around === undefined ? { count: 0 } : around.#steps;
    this.inheritance = parent?.inheritance ?? { extended: false };
  }

  /**
   * Counts a step of the rendering.
   * @throws {TemplateError} RuntimeError, if it has too many.
   * @throws {JobEndedError} If the job is to end.
   */
  step(): void {
    countStep();
    const { maxSteps } = this.context.environment;
    if (++this.#steps.count > maxSteps) {
      throw pythonError("RuntimeError", `the template takes more than ${maxSteps} steps (passes of loops, and calls)`);
    }
  }

  /**
   * Runs `code` in this frame.
   * @throws What it throws, with its place noted.
   */
  run(code: FunctionCode): Maybe<Flow> {
    try {
      this.step();
      if (this.depth > DEEPEST) throw pythonError("RecursionError", "maximum recursion depth exceeded");
      const flow = code.run(this);
      if (!(flow instanceof Promise)) return flow;
      return flow.catch((error) => {
        throw this.note(error);
      });
    } catch (error) {
      throw this.note(error);
    }
  }

  /** Adds this frame to the traceback of `error`. */
  note(error: unknown): unknown {
    const { name, path } = this.source;
    return atFrame(error, { name, path, ...this.at });
  }

  get newline(): string {
    return this.context.environment.newline;
  }

  get autoescape(): boolean {
    return this.context.escaping.on;
  }

  /** Reads a variable: of the loop and the block first, then of the template and the globals. */
  lookup(name: string): Obj | undefined {
    const inner = [this.blockVars, this.loopVars].find((vars) => vars?.has(name));
    return inner === undefined ? this.context.resolve(name) : inner.get(name);
  }

  variables(): ReadonlyMap<string, Obj> {
    if (this.loopVars === undefined && this.blockVars === undefined) return this.context.all();
    return new Map([...this.context.all(), ...this.loopVars ?? [], ...this.blockVars ?? []]);
  }

  /** @throws {TemplateError} If there is no such filter. */
  filter(name: string, args: readonly Obj[], kwargs: Kwargs): Result {
    const run = this.context.environment.operations.filters.get(name);
    if (run === undefined) throw runtimeError(`No filter named '${name}'.`);
    return run(args, kwargs, this);
  }

  /** @throws {TemplateError} If there is no such test. */
  test(name: string, args: readonly Obj[], kwargs: Kwargs): Result {
    const run = this.context.environment.operations.tests.get(name);
    if (run === undefined) throw runtimeError(`No test named '${name}'.`);
    return run(args, kwargs, this);
  }

  /** Whether the environment has such a filter or test. */
  has(kind: "filter" | "test", name: string): boolean {
    const { filters, tests } = this.context.environment.operations;
    return (kind === "filter" ? filters : tests).has(name);
  }

  /** `obj[key]` as a template reads it. */
  item(obj: Obj, key: Obj): Result {
    return this.context.environment.item(obj, key);
  }

  /** `obj.name` as a template reads it. */
  attribute(obj: Obj, name: string): Result {
    return this.context.environment.attribute(obj, name);
  }

  /** The undefined value of a name that is not a variable. */
  undefinedName(name: string): Undefined {
    return this.context.environment.undefined({ key: name, among: () => [...this.variables().keys()] });
  }

  /** An undefined value with its own message. */
  undefined(hint: string, name?: string): Obj {
    return this.context.environment.undefined({ hint, key: name });
  }
}
