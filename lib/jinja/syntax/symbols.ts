/**
 * Resolves the names of a template to variables by Jinja's scope rules, when the template is compiled. Each scope has
 * the places of its names in the frame of its function, and their initial values. Source: jinja2
 * 3.1, "idtracking".
 * @module
 */

import { children, type Expr, type Node, type Stmt } from "./nodes.ts";

/** The frame layout of one function of the compiled template. */
export class FunctionScope {
  readonly #places = new Map<string, number>();

  /** @param parent The function around it, whose variables it sees. */
  constructor(readonly parent: FunctionScope | undefined) {}

  /** Number of places of its frames. */
  get size(): number {
    return this.#places.size;
  }

  /** The place of a name of a level: sibling scopes share it. */
  place(level: number, name: string): number {
    const key = `${level} ${name}`;
    const earlier = this.#places.get(key);
    if (earlier !== undefined) return earlier;
    const place = this.#places.size;
    this.#places.set(key, place);
    return place;
  }
}

/** A variable: its place in the frames of a function. */
export interface Slot {
  readonly scope: FunctionScope;
  readonly place: number;
}

/** The initial value of a variable in its scope. */
export type Load =
  | { readonly kind: "param" }
  | { readonly kind: "undefined" }
  /** The variable of the context. */
  | { readonly kind: "resolve"; readonly name: string }
  /** The variable of a scope around. */
  | { readonly kind: "alias"; readonly of: Slot };

/** The names of one scope. */
export class Symbols {
  readonly level: number;
  readonly refs: Map<string, Slot>;
  /** Keyed by name: each name has one variable in a scope. */
  readonly loads: Map<string, Load>;
  readonly stores: Set<string>;

  constructor(readonly scope: FunctionScope, readonly parent: Symbols | undefined, like?: Symbols) {
    this.level = like?.level ?? (parent === undefined ? 0 : parent.level + 1);
    this.refs = new Map(like?.refs);
    this.loads = new Map(like?.loads);
    this.stores = new Set(like?.stores);
  }

  #copy(): Symbols {
    return new Symbols(this.scope, this.parent, this);
  }

  #define(name: string, load: Load): Slot {
    const slot = { scope: this.scope, place: this.scope.place(this.level, name) };
    this.refs.set(name, slot);
    this.loads.set(name, load);
    return slot;
  }

  /** The variable of a name in this scope or an enclosing one; `undefined` if there is none. */
  find(name: string): Slot | undefined {
    return this.refs.get(name) ?? this.parent?.find(name);
  }

  /** The name is assigned in this scope. */
  store(name: string): void {
    this.stores.add(name);
    if (this.refs.has(name)) return;
    const outer = this.parent?.find(name);
    this.#define(name, outer === undefined ? { kind: "undefined" } : { kind: "alias", of: outer });
  }

  /** The name is a parameter of this scope. */
  declare(name: string): Slot {
    this.stores.add(name);
    return this.#define(name, { kind: "param" });
  }

  /** The name is read in this scope. */
  load(name: string): void {
    if (this.find(name) === undefined) this.#define(name, { kind: "resolve", name });
  }

  /** Merges the branches of an `if`, one of which is run. */
  #join(branches: readonly Symbols[]): void {
    const stores = new Set(branches.flatMap((branch) => [...branch.stores]).filter((name) => !this.stores.has(name)));
    for (const branch of branches) {
      for (const [name, slot] of branch.refs) this.refs.set(name, slot);
      for (const [name, load] of branch.loads) this.loads.set(name, load);
      for (const name of branch.stores) this.stores.add(name);
    }
    for (const name of stores) {
      const outer = this.parent?.find(name);
      this.loads.set(name, outer === undefined ? { kind: "resolve", name } : { kind: "alias", of: outer });
    }
  }

  /** All names that are assigned here and around, with their variables. */
  assigned(): Map<string, Slot> {
    const all = new Map<string, Slot>();
    for (const name of [...this.stores].sort()) {
      const slot = this.find(name);
      if (slot !== undefined) all.set(name, slot);
    }
    for (const [name, slot] of this.parent?.assigned() ?? []) if (!all.has(name)) all.set(name, slot);
    return all;
  }

  /** Records the names of nodes that are run in this scope. */
  visitAll(nodes: readonly Node[]): void {
    for (const node of nodes) this.visit(node);
  }

  /** Records the names of a node. Scopes in it record their own when they are compiled. */
  visit(node: Node): void {
    switch (node.type) {
      case "Name":
        if (node.ctx === "param") this.declare(node.name);
        else if (node.ctx === "store") this.store(node.name);
        else this.load(node.name);
        return;
      case "NSRef":
        return this.load(node.name);
      case "If":
        return this.#visitIf(node);
      case "Macro":
        return this.store(node.name);
      case "Import":
        this.visit(node.template);
        return this.store(node.target);
      case "FromImport":
        this.visit(node.template);
        for (const name of node.names) this.store(typeof name === "string" ? name : name[1]);
        return;
      case "Assign":
        this.visit(node.node);
        return this.visit(node.target);
      case "For":
        return this.visit(node.iter);
      case "CallBlock":
        return this.visit(node.call);
      case "FilterBlock":
        return this.visit(node.filter);
      case "With":
        return this.visitAll(node.values);
      case "AssignBlock":
        return this.visit(node.target);
      case "Scope":
      case "Block":
        return;
      default:
        for (const child of children(node)) this.visit(child);
    }
  }

  #visitIf(node: Extract<Node, { type: "If" }>): void {
    this.visit(node.test);
    const branches = [node.body, node.elif, node.orElse].map((nodes) => {
      const branch = this.#copy();
      branch.visitAll(nodes);
      return branch;
    });
    this.#join(branches);
  }

  /** The target of a loop: its names are parameters. */
  declareTarget(target: Expr): void {
    if (target.type === "Name") this.declare(target.name);
    if (target.type === "Tuple") { for (const item of target.items) this.declareTarget(item); }
  }
}

/** Which of `names` the nodes read without having assigned them before. Blocks are not visited. */
export function undeclaredNames(nodes: readonly (Stmt | Expr)[], names: readonly string[]): Set<string> {
  const wanted = new Set(names);
  const undeclared = new Set<string>();
  const visit = (node: Node): void => {
    if (node.type === "Block") return;
    if (node.type === "Name") {
      if (node.ctx !== "load") wanted.delete(node.name);
      else if (wanted.has(node.name)) undeclared.add(node.name);
      return;
    }
    for (const child of children(node)) visit(child);
  };
  for (const node of nodes) visit(node);
  return undeclared;
}
