/**
 * Finds chunks that may run as one call (`state_aggregate`): chunks of one state module that do not depend on each
 * other. Source: Salt 3008.3, `DependencyGraph.aggregate_and_order_chunks` of `salt/utils/requisite.py`.
 * @module
 */

import { type Chunk, field } from "./chunks.ts";
import type { StateModules } from "./order.ts";
import type { StateNode } from "./requisite_graph.ts";
import { isAmong, isMap, type Value } from "#lib/values/value.ts";

/** Maximum number of chunks in one call. */
const MAX_GROUP = 500;

/** Whether the options or the chunk's own argument `aggregate` allow it, and its state module can. */
export function mayAggregate(chunk: Chunk, option: Value, modules: StateModules): boolean {
  const wanted = chunk.get("aggregate") ?? option;
  const module = field(chunk, "state");
  const isRequested = wanted === true ||
    (Array.isArray(wanted) && isAmong(module, wanted)) || (isMap(wanted) && wanted.has(module));
  return isRequested && modules.aggregates(module);
}

/**
 * The groups of two and more chunks.
 * @param sorted All nodes in their order.
 */
export function aggregateGroups(sorted: readonly StateNode[]): Chunk[][] {
  const byModule = new Map<string, StateNode[][]>();
  const groupOf = new Map<StateNode, StateNode[]>();
  for (const node of sorted) {
    if (!node.data.mayAggregate) continue;
    const module = field(node.data.chunk, "state");
    const groups = byModule.get(module) ?? [];
    byModule.set(module, groups);
    const free = groups.find((members) => members.length < MAX_GROUP && !waitsFor(node, members, groupOf));
    const group = free ?? [];
    group.push(node);
    groupOf.set(node, group);
    if (free === undefined) groups.push(group);
  }
  return [...byModule.values()].flat().filter(({ length }) => length > 1)
    .map((members) => members.map(({ data }) => data.chunk));
}

/**
 * Whether a path leads from `members` to `node`. A group is one call: a chunk that depends on a member depends on all.
 */
function waitsFor(
  node: StateNode,
  members: readonly StateNode[],
  groupOf: ReadonlyMap<StateNode, StateNode[]>,
): boolean {
  const seen = new Set(members);
  const open = [...members];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of at.out.keys()) {
      for (const reached of groupOf.get(next) ?? [next]) {
        if (reached === node) return true;
        if (seen.has(reached)) continue;
        seen.add(reached);
        open.push(reached);
      }
    }
  }
  return false;
}
