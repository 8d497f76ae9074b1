/**
 * What a chunk requires, by the graph of the compilation. Chunks that may run as one call are required together.
 * Source: Salt 3008.3, `DependencyGraph.get_dependencies`, `get_aggregate_chunks` of `salt/utils/requisite.py`.
 * @module
 */

import { type Chunk, chunkTag } from "#lib/states/compiler/chunks.ts";
import { type RequisiteGraph, testTag } from "#lib/states/compiler/requisite_graph.ts";
import type { Requisite } from "#lib/states/compiler/requisites.ts";
import type { Required } from "./requisite_status.ts";

/** The requisites of the chunks of a run. */
export class Dependencies {
  readonly #graph: RequisiteGraph | undefined;
  readonly #groups = new Map<Chunk, readonly Chunk[]>();

  /** @param groups Chunks that may run as one call. */
  constructor(graph?: RequisiteGraph, groups: readonly (readonly Chunk[])[] = []) {
    this.#graph = graph;
    for (const group of groups) for (const chunk of group) this.#groups.set(chunk, group);
  }

  /** What `chunk` requires; in its run in test mode, what that requires. */
  of(chunk: Chunk): Required {
    const tag = chunkTag(chunk);
    const node = this.#graph?.nodes.get(chunk.get("__prereq__") === true ? testTag(tag) : tag);
    const required = new Map<Requisite, Chunk[]>();
    const seen = new Map<Requisite, Set<Chunk>>();
    for (const [from, kinds] of node?.in ?? []) {
      const needed = from.data.chunk;
      for (const kind of kinds) {
        const kinds = seen.get(kind) ?? new Set();
        seen.set(kind, kinds);
        const list = required.get(kind) ?? [];
        required.set(kind, list);
        for (const one of this.#groups.get(needed) ?? [needed]) {
          if (kinds.has(one)) continue;
          kinds.add(one);
          list.push(one);
        }
      }
    }
    return required;
  }

  /** The chunks that may run as one call with `chunk`, itself among them; none if it runs alone. */
  group(chunk: Chunk): readonly Chunk[] {
    return this.#groups.get(chunk) ?? [];
  }
}
