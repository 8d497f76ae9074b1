/**
 * The option `global_state_conditions`: targets that must match this minion for states to be called at all.
 * Source: Salt 3008.3, `State._match_global_state_conditions` of `salt/state.py`.
 * @module
 */

import type { Chunk } from "../states/chunks.ts";
import { field } from "../states/chunks.ts";
import { isMap, map, truthy, type Value, type ValueMap } from "../values/value.ts";
import type { RunWorld } from "./world.ts";

/** The conditions of a run. */
export class GlobalConditions {
  readonly #world: RunWorld;
  #conditions: ValueMap | undefined;

  constructor(world: RunWorld) {
    this.#world = world;
  }

  /** The result of a state that may not be called here. */
  async unmet(chunk: Chunk): Promise<ValueMap | undefined> {
    this.#conditions ??= await this.#read();
    if (this.#conditions.size === 0) return undefined;
    const state = field(chunk, "state");
    const names: readonly Value[] = ["*", `${state}.${field(chunk, "fun")}`, state];
    const wanted = [...this.#conditions].filter(([name]) => names.includes(name)).flatMap(([, targets]) =>
      typeof targets === "string" ? [targets] : Array.isArray(targets) ? targets : []
    );
    if (wanted.length === 0) return undefined;
    for (const target of wanted) if (truthy(await this.#world.job.call("match.compound", [target]))) return undefined;
    return map({
      name: chunk.get("name") ?? null,
      comment: "Failed to meet global state conditions. State not called.",
      changes: {},
      result: null,
    });
  }

  async #read(): Promise<ValueMap> {
    const found = await this.#world.job.call("config.option", ["global_state_conditions"]);
    return isMap(found) ? found : new Map();
  }
}
