/**
 * Types for modules of one's own: copy this file beside them. Types alone, so nothing of it is there when the module
 * runs.
 * @module
 */

/** A value as Salt has it. Maps keep the order of their keys; an int beyond 2^53 is a `bigint`. */
export type Value = null | boolean | number | bigint | string | Uint8Array | Value[] | Map<Value, Value>;

/** What a function may return: a value, or plain objects of them. */
export type Result = Value | undefined | readonly Result[] | { readonly [key: string]: Result };

/**
 * `true` for all of one kind, or paths, hosts, programs or names. A path may begin with an option: `{cachedir}/mine`.
 */
export interface PermissionSet {
  readonly env?: true | readonly string[];
  readonly ffi?: true | readonly string[];
  readonly net?: true | readonly string[];
  readonly read?: true | readonly string[];
  readonly run?: true | readonly string[];
  readonly sys?: true | readonly string[];
  readonly write?: true | readonly string[];
}

/** What a function may do to its host. A literal in the text of the file. */
export type Permissions = "none" | "all" | PermissionSet;

/** One parameter. Without `default` it is required. */
export interface Parameter {
  readonly type: "any" | "str" | "int" | "float" | "bool" | "list" | "dict";
  readonly default?: Value;
}

/** The TypeScript type of an argument. */
type Argument<P extends Parameter> =
  | { any: Value; str: string; int: number; float: number; bool: boolean; list: Value[]; dict: Map<Value, Value> }[
    P["type"]
  ]
  | (P extends { readonly default: null } ? null : never);

/** What a function knows of the minion that it runs on. */
export interface Context {
  /** The minion's grains and its pillar. */
  readonly grains: Map<Value, Value>;
  readonly pillar: Map<Value, Value>;
  /** The job: `jid`, `fun`, `user`, `tgt`. */
  readonly job: Readonly<Record<string, Value>>;
  /** Aborted when the job must end. */
  readonly signal: AbortSignal;
  /** Calls another function of this minion, with the permissions of this one. */
  call(name: string, args?: Value[], kwargs?: Map<Value, Value>): Promise<Value>;
  /** Sets the job's return code. */
  setRetcode(retcode: number): void;
  /** Writes to the minion's log. */
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

/** What an export of a module may be: its documentation and parameters as data, and the code. */
export interface ModuleFunction<P extends Readonly<Record<string, Parameter>>> {
  /** What `sys.doc` shows. */
  readonly doc?: string;
  readonly params?: P;
  /** The name of `*args`, and of `**kwargs`, if it takes more. */
  readonly varArgs?: string;
  readonly varKwargs?: string;
  /** Whether all parameters are given by name only: every positional argument is one of `varArgs`. */
  readonly keywordOnly?: boolean;
  readonly permissions?: Permissions;
  run(
    bound: { readonly [K in keyof P]: Argument<P[K]> },
    context: Context,
    rest: { readonly args: Value[]; readonly kwargs: Map<Value, Value> },
  ): Result | Promise<Result>;
}

/** Where a module serves, and its name there. A literal in the text of the file. */
export interface Virtual {
  readonly name?: string;
  readonly serves?: readonly {
    readonly grains?: Readonly<Record<string, readonly string[]>>;
    readonly programs?: readonly string[];
    readonly otherwise?: string;
  }[];
}
