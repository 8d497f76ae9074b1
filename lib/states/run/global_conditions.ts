/**
 * The option `global_state_conditions`: targets that must match this minion for states to be called at all.
 * Source: Salt 3008.3, `State._match_global_state_conditions` of `salt/state.py`.
 * @module
 */

import { type Chunk, field } from "#lib/states/compiler/chunks.ts";
import { matchesOwn } from "#lib/targeting/own_match.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import type { RunContext } from "./run_context.ts";

/** The conditions of a run. */
export class GlobalConditions {
  readonly #runContext: RunContext;

  constructor(runContext: RunContext) {
    this.#runContext = runContext;
  }

  /** The result of a state that may not be called here. */
  unmet(chunk: Chunk): ValueMap | undefined {
    // Neither the option nor the match is asked of a module: `whitelist_modules` need not name it.
    const { job } = this.#runContext;
    const conditions = job.opts.global_state_conditions;
    if (!isMap(conditions) || conditions.size === 0) return undefined;
    const state = field(chunk, "state");
    const names: readonly Value[] = ["*", `${state}.${field(chunk, "fun")}`, state];
    const wanted = [...conditions].filter(([name]) => names.includes(name)).flatMap(([, targets]) =>
      typeof targets === "string" ? [targets] : listOrEmpty(targets)
    );
    if (wanted.length === 0 || wanted.some((tgt) => matchesOwn("compound", { tgt }, job))) return undefined;
    return map({
      name: chunk.get("name") ?? null,
      comment: "Failed to meet global state conditions. State not called.",
      changes: {},
      result: null,
    });
  }
}
