/**
 * The graph of chunks: an edge from every required chunk to the one that requires it. A chunk that others have in
 * `prereq` has a second node, for the run in test mode that decides whether it would change anything. Source: Salt
 * 3008.3, `DependencyGraph` of `salt/utils/requisite.py`.
 * @module
 */

import { moduleOfFunction } from "#lib/plugins/docs.ts";
import { type Chunk, chunkTag, field } from "./chunks.ts";
import type { CompileError } from "./compile_error.ts";
import { firstPair } from "./high.ts";
import { GraphNode } from "./graph.ts";
import { missingRequisite } from "./missing_requisite.ts";
import type { Places } from "./place.ts";
import { type Requisite, REQUISITES } from "./requisites.ts";
import { compileGlob, isGlob } from "#lib/text/glob.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

/** The data of a node. */
export interface ChunkNode {
  readonly chunk: Chunk;
  /** Whether it may be joined with others of its state module into one call. */
  readonly mayAggregate: boolean;
}

/** A node of the graph. */
export type StateNode = GraphNode<ChunkNode, Requisite>;

/** The nodes for a name, in a state module or by `id`: usually one, or several. */
type Names = Map<Value, StateNode | Set<StateNode>>;

/** The index of names for requisites. */
interface Index {
  readonly byModule: Map<string, Names>;
  readonly bySls: Names;
}

/** All chunks of a run and their requisites. */
export class RequisiteGraph {
  /** By tag, in the order of the chunks. */
  readonly nodes: Map<string, StateNode> = new Map();
  /** Created when the first requisite is resolved. */
  #made: Index | undefined;

  /** Adds a chunk. One with the tag of an earlier one takes its place. */
  add(chunk: Chunk, mayAggregate: boolean): void {
    const tag = chunkTag(chunk);
    const node = this.nodes.get(tag) ?? new GraphNode<ChunkNode, Requisite>(tag, { chunk, mayAggregate });
    node.data = { chunk, mayAggregate };
    this.nodes.set(tag, node);
    this.#made = undefined;
  }

  get #index(): Index {
    if (this.#made !== undefined) return this.#made;
    const index: Index = { byModule: new Map(), bySls: new Map() };
    for (const node of this.nodes.values()) addNames(index, node);
    return this.#made = index;
  }

  /** The possible names of a requisite `module: name`, for hints about a wrong one. */
  names(module: string): Value[] {
    const { bySls, byModule } = this.#index;
    return [...(module === "sls" ? bySls : byModule.get(module) ?? new Map<Value, unknown>()).keys()];
  }

  /** The state modules that have something called `name`. */
  modulesOf(name: Value): string[] {
    const modules = [...this.#index.byModule].filter(([module, names]) => module !== "id" && names.has(name));
    return modules.map(([module]) => module);
  }

  /**
   * Adds an edge for every requisite of `chunk`.
   * @returns The first that matches nothing; those after it are not checked.
   */
  require(
    chunk: Chunk,
    { places, disabled }: { places: Places; disabled: ReadonlySet<unknown> },
  ): CompileError | undefined {
    for (const kind of REQUISITES) {
      const wanted = chunk.get(kind);
      if (!Array.isArray(wanted) || disabled.has(kind)) continue;
      for (const [i, item] of wanted.entries()) {
        const [key, value] = isMap(item) ? firstPair(item) ?? [] : ["id", item];
        if (key === undefined || value === undefined || value === null) continue;
        const module = moduleOfFunction(str(key));
        const place = () => places.item(wanted, i) ?? places.of(chunk);
        if (typeof value !== "string") {
          const text = `Requisite [${kind}: ${module}] in state [${field(chunk, "name")}] in SLS ` +
            `[${field(chunk, "__sls__")}] must have a string as the value`;
          return { text, place: place() };
        }
        const nodes = this.#find(module, value);
        if (nodes === undefined) return missingRequisite({ kind, module, value, chunk, place: place() }, this);
        for (const node of nodes) this.#connect(chunk, kind, node);
      }
    }
    return undefined;
  }

  /** The nodes for a requisite; `undefined` if it matches nothing. A glob of SLS names may match none. */
  #find(module: string, value: string): Iterable<StateNode> | undefined {
    const { bySls, byModule } = this.#index;
    const names = module === "sls" ? bySls : byModule.get(module);
    if (!isGlob(value) && !value.includes("]")) {
      const nodes = names?.get(value);
      return nodes === undefined ? undefined : nodesOf(nodes);
    }
    const matches = compileGlob(value);
    const matchingNodes = new Set<StateNode>();
    for (const [name, nodes] of names ?? []) {
      if (typeof name === "string" && matches(name)) { for (const node of nodesOf(nodes)) matchingNodes.add(node); }
    }
    return module === "sls" || matchingNodes.size > 0 ? matchingNodes : undefined;
  }

  #connect(chunk: Chunk, kind: Requisite, required: StateNode): void {
    const node = this.#node(chunkTag(chunk), chunk);
    if (kind === "prereq") {
      this.#prereq(node, required);
      return;
    }
    // The run in test mode has the same requisites as the chunk itself.
    if (chunk.get("__prereq__") === true) required.lead(this.#node(testTag(node.tag), chunk), kind);
    required.lead(node, kind);
  }

  #node(tag: string, chunk: Chunk): StateNode {
    const node = this.nodes.get(tag);
    if (node !== undefined) return node;
    const made = new GraphNode<ChunkNode, Requisite>(tag, { chunk, mayAggregate: false });
    this.nodes.set(tag, made);
    return made;
  }

  /** `node` has `required` in `prereq`: the latter is tested, then `node` runs, then the latter itself. */
  #prereq(node: StateNode, required: StateNode): void {
    node.data.chunk.set("__prerequiring__", true);
    required.data.chunk.set("__prereq__", true);
    const existing = this.nodes.get(testTag(required.tag));
    const test = existing ?? this.#node(testTag(required.tag), required.data.chunk);
    if (existing === undefined) {
      for (const [needed, kinds] of required.in) {
        for (const kind of kinds) if (kind !== "prereq") needed.lead(test, kind);
      }
    }
    test.lead(node, "prereq");
    node.lead(required, "require");
    const ownTest = this.nodes.get(testTag(node.tag));
    if (ownTest !== undefined) test.lead(ownTest, "prereq");
  }
}

/** Adds the names of a node. */
function addNames({ byModule, bySls }: Index, node: StateNode): void {
  const { chunk } = node.data;
  const [name, id] = [chunk.get("name") ?? null, chunk.get("__id__") ?? null];
  for (const module of [field(chunk, "state"), "id"]) {
    const names = byModule.get(module) ?? new Map();
    byModule.set(module, names);
    for (const key of module === "id" ? [id, name] : [name, id]) addTo(names, key, node);
  }
  const sls = chunk.get("__sls__");
  if (typeof sls === "string" && sls !== "") addTo(bySls, sls, node);
  const includers = chunk.get("__sls_included_from__");
  if (Array.isArray(includers)) { for (const includer of includers) addTo(bySls, includer, node); }
}

function addTo(names: Names, name: Value, node: StateNode): void {
  const nodes = names.get(name);
  if (nodes === undefined) names.set(name, node);
  else if (nodes instanceof Set) nodes.add(node);
  else if (nodes !== node) names.set(name, new Set([nodes, node]));
}

function nodesOf(named: StateNode | Set<StateNode>): Iterable<StateNode> {
  return named instanceof Set ? named : [named];
}

/** The tag of the run in test mode of the chunk with `tag`. */
export function testTag(tag: string): string {
  return `${tag}_|-__prereq_test__`;
}
