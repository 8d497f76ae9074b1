/**
 * The stages `requisites` and `order`: the graph of requisites, and the order in which the chunks run.
 *
 * Of the chunks whose requisites are done, the next is the one with the least order. A chunk's order is its own, or
 * that of a chunk that directly depends on it, if that is less: so a required state comes just before the first one
 * that requires it. Source: Salt 3008.3, `State.order_chunks` of `salt/state.py`, `DependencyGraph` of
 * `salt/utils/requisite.py`.
 * @module
 */

import { listOrEmpty } from "#lib/values/shape.ts";
import type { StateSignature } from "./arguments.ts";
import { type Chunk, field } from "./chunks.ts";
import type { CompileError } from "./compile_error.ts";
import { cycleError } from "./cycle.ts";
import { isNumericValue } from "./high.ts";
import { topologicalOrder } from "./graph.ts";
import type { Places } from "./place.ts";
import { RequisiteGraph, type StateNode } from "./requisite_graph.ts";
import { REQUISITE_WEIGHT } from "./requisites.ts";
import { compareStrings, float, int, isFloat, toNumber, type Value } from "#lib/values/value.ts";

/** Facts of the state modules of a host. */
export interface StateModules {
  /** Whether it has a function `mod_watch`. */
  watches(module: string): boolean;
  /** Whether it has a function `mod_aggregate`. */
  aggregates(module: string): boolean;
  /** The arguments of a function; `undefined` if it is not there. */
  signature(fun: string): StateSignature | undefined;
}

/** Added to the order of `last`, and to a negative one. */
const LAST = 1_000_000;

/**
 * `watch` of a state module without `mod_watch` becomes `require`. The chunk's lists are replaced, because others may
 * share them.
 */
export function watchToRequire(chunk: Chunk, modules: StateModules): void {
  if (modules.watches(field(chunk, "state"))) return;
  for (const [watch, require] of [["watch", "require"], ["watch_any", "require_any"]]) {
    const watched = chunk.get(watch);
    if (watched === undefined) continue;
    const required = chunk.get(require);
    chunk.set(require, [...listOrEmpty(required), ...listOrEmpty(watched)]);
    chunk.delete(watch);
  }
}

/**
 * The chunks of `graph` in their order; a chunk that others have in `prereq` comes twice. Every chunk's `order` becomes
 * a number, and its `name_order` is removed.
 * @param chunks In the order of the high data, from which the order of `last` is computed.
 */
export function sortNodes(
  chunks: readonly Chunk[],
  graph: RequisiteGraph,
  places: Places,
): { readonly sorted: StateNode[]; readonly error?: CompileError } {
  const cap = orderCap(chunks);
  const sorted = topologicalOrder(graph.nodes.values(), { key: (node) => sortKey(node, cap), compare: compareKeys });
  if (sorted.length === graph.nodes.size) return { sorted };
  return { sorted: [], error: cycleError(graph.nodes.values(), places) };
}

/** The order of chunks without one: above all given numbers. */
function orderCap(chunks: readonly Chunk[]): number {
  let cap = 1;
  for (const chunk of chunks) {
    const order = chunk.get("order");
    if (!isNumericValue(order) || isFloat(order)) continue;
    const n = Number(order);
    if (n > cap - 1 && n > 0) cap = n + 100;
  }
  return cap;
}

interface SortKey {
  readonly effective: number;
  readonly own: number;
  readonly label: string;
  readonly tag: string;
}

function compareKeys(a: SortKey, b: SortKey): number {
  return a.effective - b.effective || a.own - b.own || compareStrings(a.label, b.label) || compareStrings(a.tag, b.tag);
}

function sortKey(node: StateNode, cap: number): SortKey {
  const { chunk } = node.data;
  numberOrder(chunk, cap);
  const nameOrder = chunk.get("name_order");
  chunk.delete("name_order");
  if (typeof nameOrder === "number") chunk.set("order", float(own(chunk) + nameOrder / 10_000));
  if (own(chunk) < 0) chunk.set("order", sum(chunk.get("order") ?? 0, cap + LAST));
  const order = own(chunk);
  return {
    effective: Math.min(order, leastDependent(node, cap)),
    own: order,
    label: field(chunk, "state") + field(chunk, "name") + field(chunk, "fun"),
    tag: node.tag,
  };
}

function own(chunk: Chunk): number {
  return toNumber(chunk.get("order")) ?? 0;
}

function sum(order: Value, more: number): Value {
  if (isFloat(order)) return float((toNumber(order) ?? 0) + more);
  return int(BigInt(typeof order === "bigint" ? order : Number(order)) + BigInt(more));
}

/** Converts `first`, `last` and other values to numbers. */
function numberOrder(chunk: Chunk, cap: number): void {
  const order = chunk.get("order");
  if (isNumericValue(order)) return;
  chunk.set("order", order === "last" ? cap + LAST : order === "first" ? 0 : cap);
}

/**
 * The least order of the nodes that directly depend on `node`. Edges are checked in turn, and one with less weight than
 * a previous one is skipped.
 */
function leastDependent(node: StateNode, cap: number): number {
  let min = Infinity, weight = -1;
  for (const [dependent, kinds] of node.out) {
    for (const kind of kinds) {
      if (REQUISITE_WEIGHT[kind] < weight) continue;
      weight = REQUISITE_WEIGHT[kind];
      const { chunk } = dependent.data;
      numberOrder(chunk, cap);
      min = Math.min(min, own(chunk));
    }
  }
  return min;
}
