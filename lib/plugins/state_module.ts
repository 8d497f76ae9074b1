/**
 * The form of a state function: documentation and parameters as data, and the code, as of an execution module's
 * function. A file `modules/states/file/managed.ts` with an export `managed` made by {@linkcode stateFn} defines
 * `file.managed`.
 *
 * What it returns is checked by the runtime (lib/states/run), which adds the fields that Salt's returns have:
 * `__sls__`, `__run_num__`, `start_time`, `duration`, …. Source: docs.saltproject.io "State Modules"; Salt 3008.3,
 * `State.call`, `State.verify_ret` of `salt/state.py`.
 * @module
 */

import type { StateContext } from "./job_context.ts";
import { type Declaration, declare, type ModuleFunction, type Parameters } from "./module.ts";
import { isMap, map, str, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** The result of a state function. */
export interface StateResult {
  /** The state's `name` as it was used. */
  name: Value;
  /** True: the host is as wanted. False: it is not. `null`: in test mode, something would be changed. */
  result: boolean | null;
  /** A text for people; a list is joined with newlines. */
  comment: string | string[];
  /** The changes, or in test mode the predicted ones; an empty map: none. */
  changes: ValueMap;
  /** Shown with the result. */
  warnings?: string[];
  /** Whether `mod_watch` must not be called, although a watched state has changed something. */
  skip_watch?: boolean;
  /** Whether the version that the state is about is the default one: `pyenv`. */
  default?: boolean;
  /** Data of a state that only reads: `disk.status`, `http.query`. */
  data?: Value;
  /** The job that the state has started on other hosts. */
  __jid__?: string;
  /** Results of states inside this one: a list of maps. */
  sub_state_run?: Value[];
}

/** A result whose comment may be of any type, as an SLS gave it (module `test`): the runtime takes it as it is. */
export interface GivenResult extends Omit<StateResult, "comment"> {
  comment: Value;
}

/**
 * A result that a state function fills: nothing changed, no comment.
 * @param result Default: true.
 */
export function startResult(name: Value, result: boolean | null = true): StateResult {
  return { name, result, comment: "", changes: new Map() };
}

/** A result that says why the host is not as wanted. */
export function failState(name: Value, comment: string | string[], changes: ValueMap = new Map()): StateResult {
  return { name, result: false, comment, changes };
}

/**
 * The result of a state function or of an execution module that makes one (`file.manage_file`), with its fields
 * checked.
 */
export function stateResult(value: Value): StateResult {
  if (!isMap(value)) throw new TypeError(`A state's result is a dict, not a ${typeName(value)}`);
  const field = (key: string): Value => value.get(key) ?? null;
  const [result, changes, comment] = [field("result"), field("changes"), field("comment")];
  if (result !== null && typeof result !== "boolean") throw new TypeError("A state's result is true, false or null");
  if (!isMap(changes)) throw new TypeError(`The changes of a state are a dict, not a ${typeName(changes)}`);
  const { name: _name, result: _result, comment: _comment, changes: _changes, ...more } = Object.fromEntries(
    [...value].map(([key, item]) => [str(key), item]),
  );
  return {
    ...more,
    name: field("name"),
    result,
    comment: Array.isArray(comment) ? comment.map(str) : str(comment ?? ""),
    changes,
  };
}

/** A {@linkcode StateResult} as the map that returns hold. */
export function resultMap(result: StateResult): ValueMap {
  return map({ ...result });
}

/** A state function's declaration; its code returns a {@linkcode StateResult}, or what is like one. */
export interface StateDeclaration<P extends Parameters> extends Omit<Declaration<P, StateContext>, "run"> {
  /** Brings the host into the wanted state; in test mode reports what it would change. */
  run(
    ...given: Parameters_<Declaration<P, StateContext>["run"]>
  ): StateResult | GivenResult | Promise<StateResult | GivenResult>;
}

type Parameters_<F extends (...args: never[]) => unknown> = F extends (...args: infer A) => unknown ? A : never;

/** Declares a state function. */
export function stateFn<P extends Parameters>(declaration: StateDeclaration<P>): ModuleFunction<StateContext> {
  return declare<P, StateContext>(declaration);
}
