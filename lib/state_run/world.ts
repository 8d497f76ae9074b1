/**
 * What the states of a run see: the job that runs them, in its mode, with its grains and pillar, which a state may renew.
 * Source: Salt 3008.3, `inject_globals`, `state_con` of `State.call` in `salt/state.py`.
 * @module
 */

import { InvocationError, UnavailableError } from "../errors.ts";
import { invoke } from "../plugins/call.ts";
import { callFunction } from "../plugins/execution.ts";
import type { JobContext, StateContext } from "../plugins/job_context.ts";
import type { ModuleFunction } from "../plugins/module.ts";
import type { Chunk } from "../states/chunks.ts";
import { isMap, str, truthy, typeName, type Value, type ValueMap } from "../values/value.ts";
import { stateArguments } from "./state_arguments.ts";

/** What a run is made of. */
export interface WorldParts {
  /** The job; its options are those of the run, but for `test`. */
  readonly context: JobContext;
  /** Whether nothing may be changed. */
  readonly test: boolean;
}

/** What a state module exports: a state, or one of `mod_watch`, `mod_init`, …. */
export type StateFunction = ModuleFunction<StateContext>;

/** The surroundings of a run. */
export class RunWorld {
  readonly test: boolean;
  /** The chunks of the run in their order, for states that look at one another. */
  chunks: readonly Chunk[] = [];
  /** The results so far, by tag. */
  readonly running: Map<string, ValueMap> = new Map();
  /** The return code that the last execution function set. */
  retcode = 0;
  #job: JobContext;
  readonly #shared = new Map<string, unknown>();
  readonly #functions = new Map<string, StateFunction | undefined>();

  constructor({ context, test }: WorldParts) {
    this.#job = context;
    this.test = test;
  }

  /** The job that runs the states, as it was last renewed. */
  get job(): JobContext {
    return this.#job;
  }

  /** From now on states see other grains, or another pillar. */
  renew(data: { readonly grains?: ValueMap; readonly pillar?: ValueMap }): void {
    this.#job = { ...this.#job, ...data };
  }

  /** From now on modules are looked for again: one may serve that did not before. */
  forgetFunctions(): void {
    this.#functions.clear();
  }

  /** The state function called `name`, if there is one on this host. */
  async function(name: string): Promise<StateFunction | undefined> {
    if (this.#functions.has(name)) return this.#functions.get(name);
    const found = await this.#job.catalogue.states.get(name);
    this.#functions.set(name, found);
    return found;
  }

  /** Why a state function is not there, in Salt's words. */
  whyMissing(name: string): string {
    const module = name.split(".", 1)[0];
    const refusal = this.#job.catalogue.states.refusals().get(module);
    if (refusal !== undefined) return `'${module}' __virtual__ returned False: ${refusal}`;
    const problem = this.#job.catalogue.states.problems().get(module);
    return problem === undefined ? `'${name}' is not available.` : `'${name}' is not available: ${problem}`;
  }

  /** Whether there is an execution function of that name. */
  async has(name: string): Promise<boolean> {
    return await this.#job.catalogue.get(name) !== undefined;
  }

  /** Calls an execution function for a chunk. @throws What it throws. */
  async call(chunk: Chunk, name: string, args: Value[], kwargs: ValueMap): Promise<Value> {
    return await this.contextOf(chunk).call(name, args, kwargs);
  }

  /** The context of a state. Its run for `prereq` is in test mode. */
  contextOf(chunk: Chunk): StateContext {
    const test = this.test || chunk.get("__prereq__") === true;
    const runas = chunk.get("runas");
    const job = this.#job;
    const context: StateContext = {
      ...job,
      opts: job.opts.test === test ? job.opts : { ...job.opts, test },
      ...truthy(runas) && runas !== undefined && { runas: str(runas) },
      test,
      low: chunk,
      chunks: this.chunks,
      running: this.running,
      shared: this.#shared,
      call: (name, args, kwargs) => callFunction(name, { args, kwargs, context }),
      setRetcode: (code) => {
        this.retcode = code;
      },
      state: (name, kwargs) => this.#inner(name, kwargs, context),
    };
    return context;
  }

  /** Calls a state function from within another. */
  async #inner(name: string, kwargs: ValueMap, context: StateContext): Promise<ValueMap> {
    const fun = await this.function(name);
    if (fun === undefined) throw new UnavailableError(name);
    const result = await invoke(fun, { name, args: [], kwargs: stateArguments(fun, kwargs, new Set()), context });
    if (isMap(result)) return result;
    throw new InvocationError(`${name} returned a ${typeName(result)} instead of a dict`);
  }
}
