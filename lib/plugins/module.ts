/**
 * The form of a module's function: documentation and parameters as data, and the code. `sys.doc`, `sys.argspec`, `salt
 * -d` and the argument checks all read this object. A file `modules/execution/test.ts` with an export `ping` made by
 * {@linkcode fn} defines the function `test.ping`; names reserved in JavaScript end in an underscore (`true_` is
 * `test.true`). Knows nothing of loading, calling or transport.
 * @module
 */

import type { Permissions } from "./permissions.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/**
 * The types of parameters. `str` also takes numbers, as their text, because YAML on the command line made numbers of
 * them.
 */
export type ParameterType = "any" | "str" | "int" | "float" | "bool" | "list" | "dict";

const PARAMETER_TYPES: readonly unknown[] = ["any", "str", "int", "float", "bool", "list", "dict"];

/** Whether `type` is one. */
export function isParameterType(type: unknown): type is ParameterType {
  return PARAMETER_TYPES.includes(type);
}

/** One parameter. Without `default` it is required; with `default: null` the caller may also pass None. */
export interface Parameter<T = unknown> {
  /** The type of the argument. */
  readonly type: ParameterType;
  /** The default value. */
  readonly default?: Value;
  /** Holds the TypeScript type of the bound argument; never set. */
  readonly bound?: T;
}

/** The parameters of a function, in order, by name. */
export type Parameters = Readonly<Record<string, Parameter>>;

/** The arguments that a function's code gets: one field for each parameter. */
export type Bound<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never;
};

/** Remaining arguments; filled only if the declaration asks for them. */
export interface Rest {
  /** Positional arguments beyond the named ones (`*args`). */
  readonly args: Value[];
  /** Keyword arguments beyond the named ones (`**kwargs`), `__pub_*` fields among them. */
  readonly kwargs: ValueMap;
}

/** A function of a module. `C` is the type of its context: a minion's job, or a runner's. */
export interface ModuleFunction<C> {
  /** Salt's documentation text, its `CLI Example:` included. */
  readonly doc: string;
  /**
   * The documentation as it is shown, of a function in Python; `null`: it has none. Default: {@linkcode doc} in the
   * layout of a docstring.
   */
  readonly docstring?: string | null;
  /** The parameters, in order. */
  readonly params: Parameters;
  /** The name of `*args` if the function takes more positional arguments. */
  readonly varArgs?: string;
  /**
   * Whether all {@linkcode params} are given by name only, because every positional argument is one of
   * {@linkcode varArgs}.
   */
  readonly keywordOnly?: boolean;
  /** The name of `**kwargs` if the function takes more keyword arguments. */
  readonly varKwargs?: string;
  /**
   * The keyword arguments that {@linkcode varKwargs} makes use of. Default: any. Of states, one that looks like a
   * misspelt argument is an error of the compiler, and any other has no effect. Of execution modules, any other is
   * refused, except those that begin with `__`.
   */
  readonly keywords?: readonly string[];
  /**
   * Of execution modules that take any keyword: those that {@linkcode varKwargs} makes use of. One from an operator
   * that looks like a misspelt one of them, or of a parameter, is refused. `test` among them: the function has no test
   * mode.
   */
  readonly watchedKeywords?: readonly string[];
  /**
   * Of states that take any keyword: whether they are the arguments of another function, which may look like misspelt
   * arguments of a state.
   */
  readonly passesKeywords?: boolean;
  /** The outputter for its returns, unless the operator names one. Default: the configured one. */
  readonly outputter?: string;
  /**
   * For a function that runs on the master: whether its arguments and its result are secret. Then the job cache and the
   * event bus get a mask instead.
   */
  readonly secret?: boolean;
  /** Its permissions when it runs as a minion's job. Default: "none". */
  readonly permissions?: Permissions;
  /**
   * Whether the job may be run again when a command of it has outlived its minion: what it does before its command has
   * no other effect, and it makes its result only from the command's outcome. Default: false.
   */
  readonly resumable?: boolean;
  /** Runs it; the result is converted by `toValue`. A thrown `CommandError` is an error of the caller or the host. */
  run(bound: Readonly<Record<string, unknown>>, context: C, rest: Rest): unknown;
}

/** The argument of {@linkcode fn}: a {@linkcode ModuleFunction} whose code gets typed parameters. */
export interface Declaration<P extends Parameters, C> extends Omit<ModuleFunction<C>, "run" | "params"> {
  /** The parameters, in order. */
  readonly params: P;
  /** Runs it with arguments of the declared types. */
  run(bound: Bound<P>, context: C, rest: Rest): unknown;
}

/** Declares a module's function for the context `C`; the bound arguments get the types of `params`. */
export function declare<P extends Parameters, C>(declaration: Declaration<P, C>): ModuleFunction<C> {
  // The only cast of the module system: `bind` in call.ts makes `bound` from these `params`.
  return declaration as unknown as ModuleFunction<C>;
}

/** Makes parameters of one type: `p.str()` is required, `p.str("x")` has a default. */
export type Parametric<T> = {
  /** A parameter that must be given. */
  (): Parameter<T>;
  /** A parameter with a default; `null` allows None. */
  <D extends T | null>(defaultValue: D): Parameter<D extends null ? T | null : T>;
};

function kind<T extends Value>(type: ParameterType): Parametric<T> {
  return ((...given: [Value?]) => given.length === 0 ? { type } : { type, default: given[0] }) as Parametric<T>;
}

/** The kinds of parameters, by Python's names of their types: `p.str()` is required, `p.str("x")` has a default. */
export const p = {
  /** A parameter of any type. */
  any: kind<Value>("any"),
  /** A string; numbers are taken as their text. */
  str: kind<string>("str"),
  int: kind<number>("int"),
  /** A number; bound as a JavaScript number. */
  float: kind<number>("float"),
  bool: kind<boolean>("bool"),
  /** A list; a string is split at commas, as Salt does. */
  list: kind<Value[]>("list"),
  /** A map. */
  dict: kind<ValueMap>("dict"),
};
