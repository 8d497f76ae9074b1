/**
 * A directed graph in which two nodes may have several edges of different kinds. Knows nothing of states.
 * @module
 */

/** A node with data of the caller. */
export class GraphNode<Data, Kind> {
  // Most nodes have no edges: without these maps ten thousand take 10 MB less.
  #out: Map<GraphNode<Data, Kind>, Set<Kind>> | undefined;
  #in: Map<GraphNode<Data, Kind>, Set<Kind>> | undefined;

  /**
   * @param tag The name; it decides the order of otherwise equal nodes.
   * @param data Replaced when the node is added again.
   */
  constructor(readonly tag: string, public data: Data) {}

  /** The targets of edges and their kinds, in the order in which they were added. */
  get out(): ReadonlyMap<GraphNode<Data, Kind>, ReadonlySet<Kind>> {
    return this.#out ?? NO_EDGES;
  }

  /** The nodes that edges start from. */
  get in(): ReadonlyMap<GraphNode<Data, Kind>, ReadonlySet<Kind>> {
    return this.#in ?? NO_EDGES;
  }

  /** Adds an edge to `to`, if it is not there. */
  lead(to: GraphNode<Data, Kind>, kind: Kind): void {
    const edge = this.#out?.get(to);
    if (edge !== undefined) {
      edge.add(kind);
      return;
    }
    const kinds = new Set([kind]);
    (this.#out ??= new Map()).set(to, kinds);
    (to.#in ??= new Map()).set(this, kinds);
  }
}

const NO_EDGES: ReadonlyMap<never, never> = new Map<never, never>();

/** An edge from a node to another. */
export interface Edge<Data, Kind> {
  readonly from: GraphNode<Data, Kind>;
  readonly to: GraphNode<Data, Kind>;
  readonly kind: Kind;
}

/** The number of edges that lead to `node`. */
function inDegree<Data, Kind>(node: GraphNode<Data, Kind>): number {
  let degree = 0;
  for (const kinds of node.in.values()) degree += kinds.size;
  return degree;
}

/** The first cycle that a depth-first search finds, edge by edge; empty if there is none. */
export function findCycle<Data, Kind>(nodes: Iterable<GraphNode<Data, Kind>>): Edge<Data, Kind>[] {
  type Node = GraphNode<Data, Kind>;
  const done = new Set<Node>();
  for (const start of nodes) {
    if (done.has(start)) continue;
    // The path to the current node, with the untried edges of each node.
    const way: { node: Node; rest: Iterator<[Node, ReadonlySet<Kind>]>; by?: Kind }[] = [{
      node: start,
      rest: start.out.entries(),
    }];
    const open = new Map<Node, number>([[start, 0]]);
    while (way.length > 0) {
      const { node, rest } = way[way.length - 1];
      const next = rest.next();
      if (next.done) {
        way.pop();
        open.delete(node);
        done.add(node);
        continue;
      }
      const [to, kinds] = next.value;
      const [kind] = kinds;
      const first = open.get(to);
      if (first !== undefined) {
        const cycle = way.slice(first);
        return cycle.map(({ node: from }, i) => {
          const after = cycle[i + 1];
          return after === undefined ? { from, to, kind } : { from, to: after.node, kind: after.by ?? kind };
        });
      }
      if (done.has(to)) continue;
      open.set(to, way.length);
      way.push({ node: to, rest: to.out.entries(), by: kind });
    }
  }
  return [];
}

/**
 * All nodes in topological order; of the possible next nodes, the least by `compare` of their keys, then by tag. Nodes
 * of a cycle, and those after one, are left out.
 * @param key Called once for each node, when all nodes before it are in the list.
 */
export function topologicalOrder<Data, Kind, Key>(
  nodes: Iterable<GraphNode<Data, Kind>>,
  { key, compare }: {
    key: (node: GraphNode<Data, Kind>) => Key;
    compare: (a: Key, b: Key) => number;
  },
): GraphNode<Data, Kind>[] {
  type Entry = { readonly key: Key; readonly node: GraphNode<Data, Kind> };
  const heap = new Heap<Entry>((a, b) => compare(a.key, b.key));
  const left = new Map<GraphNode<Data, Kind>, number>();
  for (const node of nodes) {
    const degree = inDegree(node);
    left.set(node, degree);
    if (degree === 0) heap.push({ key: key(node), node });
  }
  const order: GraphNode<Data, Kind>[] = [];
  for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
    order.push(entry.node);
    for (const [next, kinds] of entry.node.out) {
      const degree = (left.get(next) ?? 0) - kinds.size;
      left.set(next, degree);
      if (degree === 0) heap.push({ key: key(next), node: next });
    }
  }
  return order;
}

/** A binary heap: the least first. */
class Heap<T> {
  readonly #items: T[] = [];

  constructor(readonly compare: (a: T, b: T) => number) {}

  push(item: T): void {
    const items = this.#items;
    let place = items.push(item) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.compare(items[parent], item) <= 0) break;
      items[place] = items[parent];
      place = parent;
    }
    items[place] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const min = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return last;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.compare(items[child + 1], items[child]) < 0) child++;
      if (this.compare(items[child], last) >= 0) break;
      items[place] = items[child];
      place = child;
    }
    items[place] = last;
    return min;
  }
}
