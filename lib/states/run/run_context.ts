/**
 * The shared data of a run's states: the job, with its grains and pillar, which a state may refresh; the functions that
 * were looked up; the results so far.
 * @module
 */

import { moduleOfFunction } from "#lib/plugins/docs.ts";
import type { ChildRunner } from "#lib/programs/child_process.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import type { Chunk } from "#lib/states/compiler/chunks.ts";
import { truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { stateContext, type StateFunction } from "./state_context.ts";

/** What a run of states is made from: its job, its mode and its helpers. */
export interface RunContextParts {
  /** The job; its options are those of the run, but for `test`. */
  readonly context: JobContext;
  /** Whether nothing may be changed. */
  readonly test: boolean;
}

/** The environment of a run. */
export class RunContext {
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

  constructor({ context, test }: RunContextParts) {
    this.#job = context;
    this.test = test;
  }

  /** The job that runs the states, as it was last renewed. */
  get job(): JobContext {
    return this.#job;
  }

  /** Replaces the grains or the pillar for later states. */
  renew(data: { readonly grains?: ValueMap; readonly pillar?: ValueMap }): void {
    this.#job = { ...this.#job, ...data };
  }

  /** Forgets looked-up functions: modules that did not load before may load now. */
  forgetFunctions(): void {
    this.#functions.clear();
  }

  /** The state function called `name`, if there is one on this host. */
  async function(name: string): Promise<StateFunction | undefined> {
    if (this.#functions.has(name)) return this.#functions.get(name);
    const state = await this.#job.catalogue.states.get(name);
    this.#functions.set(name, state);
    return state;
  }

  /** The names of all state functions. */
  async names(): Promise<string[]> {
    return (await this.#job.catalogue.states.all()).map((fun) => fun.name);
  }

  /** Why a state function is not there, in Salt's words. */
  whyMissing(name: string): string {
    const module = moduleOfFunction(name);
    const refusal = this.#job.catalogue.states.refusals().get(module);
    if (refusal !== undefined) return `'${module}' __virtual__ returned False: ${refusal}`;
    const problem = this.#job.catalogue.states.problems().get(module);
    return problem === undefined ? `'${name}' is not available.` : `'${name}' is not available: ${problem}`;
  }

  /** Whether there is an execution function of that name. */
  async has(name: string): Promise<boolean> {
    return await this.#job.catalogue.get(name) !== undefined;
  }

  /**
   * Calls an execution function for a chunk.
   * @throws What it throws.
   */
  async call(chunk: Chunk, name: string, args: Value[], kwargs: ValueMap): Promise<Value> {
    return await this.contextOf(chunk).call(name, args, kwargs);
  }

  /**
   * The context of a state. Its run for `prereq` is in test mode; with `no_log` nothing of it is logged.
   * @param runChild What runs its commands, if not what runs the job's.
   */
  contextOf(chunk: Chunk, runChild?: ChildRunner): StateContext {
    const isHidden = truthy(chunk.get("no_log"));
    const job = { ...this.#job, ...runChild && { runChild }, ...isHidden && { log: () => {} } };
    return stateContext(job, {
      test: this.test || chunk.get("__prereq__") === true,
      low: chunk,
      chunks: this.chunks,
      running: this.running,
      shared: this.#shared,
      find: (name) => this.function(name),
      setRetcode: (code) => {
        this.retcode = code;
      },
    });
  }
}
