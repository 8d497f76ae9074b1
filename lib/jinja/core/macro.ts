/**
 * Macros as values.
 * Source: jinja2 3.1, "Macro".
 * @module
 */

import { pythonError } from "#lib/python/errors.ts";
import { type CallContext, type Kwargs, type Obj, PyObject, type Result } from "#lib/python/object.ts";
import { Markup } from "#lib/python/markup.ts";
import { reprOf } from "#lib/python/repr.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { Frame, type FunctionCode } from "./frame.ts";
import { Output } from "./output.ts";
import { then } from "./results.ts";

/** A compiled macro. */
export interface MacroCode extends FunctionCode {
  /** `undefined` for the body of a call block. */
  readonly name: string | undefined;
  readonly parameters: readonly string[];
  /** Whether its body uses the special names. */
  readonly usesCaller: boolean;
  readonly usesKwargs: boolean;
  readonly usesVarargs: boolean;
  /** Puts the arguments: those of the parameters (`undefined`: not given), then the special ones. */
  readonly bind: (frame: Frame, values: readonly (Obj | undefined)[]) => void;
}

/** A macro, with the frame that it was defined in. */
export class Macro extends PyObject {
  readonly typeName = "Macro";

  constructor(readonly code: MacroCode, readonly home: Frame) {
    super();
  }

  override get typeDescription(): string {
    return "jinja2.runtime.Macro object";
  }

  override get callable(): boolean {
    return true;
  }

  override truth(): boolean {
    return true;
  }

  override getattr(name: string): Obj | undefined {
    const { code } = this;
    if (name === "name") return code.name ?? null;
    if (name === "arguments") return new Tuple(code.parameters);
    if (name === "catch_kwargs") return code.usesKwargs;
    if (name === "catch_varargs") return code.usesVarargs;
    if (name === "caller") return code.usesCaller;
    return name === "explicit_caller" ? code.parameters.includes("caller") : undefined;
  }

  override call(args: readonly Obj[], kwargs: Kwargs, context: CallContext): Result {
    const values = this.#values(args, kwargs);
    const { context: variables, source } = this.home;
    const caller = context instanceof Frame ? context : this.home;
    const frame = new Frame(this.code, { context: variables, source, out: new Output(), caller, parent: this.home });
    this.code.bind(frame, values);
    return then(frame.run(this.code), () => context.autoescape ? new Markup(frame.out.text) : frame.out.text);
  }

  #values(args: readonly Obj[], kwargs: Kwargs): (Obj | undefined)[] {
    const { parameters, usesCaller, usesKwargs, usesVarargs } = this.code;
    const rest = new Map(kwargs);
    const take = (name: string): Obj | undefined => {
      const value = rest.get(name);
      rest.delete(name);
      return value;
    };
    const values = parameters.map((name, i) => i < args.length ? args[i] : take(name));
    const explicitCaller = parameters.includes("caller");
    if (usesCaller && !explicitCaller) {
      values.push(
        take("caller") ?? this.home.context.environment.undefined({ hint: "No caller defined", key: "caller" }),
      );
    }
    if (usesKwargs) values.push(rest);
    else if (rest.size > 0) throw this.#refuseKeyword(rest);
    if (usesVarargs) values.push(new Tuple(args.slice(parameters.length)));
    else if (args.length > parameters.length) {
      throw pythonError(
        "TypeError",
        `macro ${this.#quotedName()} takes not more than ${parameters.length} argument(s)`,
      );
    }
    return values;
  }

  #quotedName(): string {
    return reprOf(this.code.name ?? null);
  }

  #refuseKeyword(rest: ReadonlyMap<string, Obj>): Error {
    if (rest.has("caller")) {
      return pythonError(
        "TypeError",
        `macro ${this.#quotedName()} was invoked with two values for the special caller argument. This is most likely a bug.`,
      );
    }
    const [first] = rest.keys();
    return pythonError("TypeError", `macro ${this.#quotedName()} takes no keyword argument ${reprOf(first)}`);
  }

  override repr(): string {
    return `<Macro ${this.code.name === undefined ? "anonymous" : reprOf(this.code.name)}>`;
  }
}
