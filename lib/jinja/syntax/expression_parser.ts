/**
 * Reads the expressions of a template.
 * Source: jinja2 3.1, "parser".
 * @module
 */

import { repr } from "#lib/values/value.ts";
import { syntaxError } from "./errors.ts";
import type { Arguments, BinaryType, CompareOperator, Expr, NodePlace, Operand, Pair } from "./nodes.ts";
import type { TokenStream } from "./token_stream.ts";
import { describeToken } from "./tokens.ts";

const COMPARISONS: ReadonlyMap<string, CompareOperator> = new Map(
  (["eq", "ne", "lt", "lteq", "gt", "gteq"] as const).map((type) => [type, type]),
);
const SUMS: ReadonlyMap<string, BinaryType> = new Map([["add", "Add"], ["sub", "Sub"]]);
const PRODUCTS: ReadonlyMap<string, BinaryType> = new Map([
  ["mul", "Mul"],
  ["div", "Div"],
  ["floordiv", "FloorDiv"],
  ["mod", "Mod"],
]);
const POWERS: ReadonlyMap<string, BinaryType> = new Map([["pow", "Pow"]]);
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);

/** How deep expressions may be nested: Python gives up at about 70. */
const DEEPEST = 200;

/** How a tuple is read. */
export interface TupleOptions {
  /** Names and literals alone. */
  readonly simplified?: boolean;
  /** Whether `a if b` may be in it. Default: yes. */
  readonly withCondition?: boolean;
  /** Tokens that end it, in addition to those that always do. */
  readonly endTokens?: readonly string[];
  /** Whether it is in parentheses, so that it may be empty. */
  readonly parenthesized?: boolean;
  /** Whether `name.attribute` may be in it. */
  readonly withNamespace?: boolean;
}

/** Changes the context of a target and all its parts. */
export function setContext(target: Expr, ctx: "store" | "param"): void {
  if (target.type === "Name" || target.type === "Tuple" || target.type === "Getitem" || target.type === "Getattr") {
    target.ctx = ctx;
  }
  if (target.type === "Tuple" || target.type === "List") { for (const item of target.items) setContext(item, ctx); }
}

/** Parses expressions from the tokens. */
export class ExpressionParser {
  readonly #stream: TokenStream;
  #depth = 0;

  constructor(stream: TokenStream) {
    this.#stream = stream;
  }

  #fail(message: string, place: NodePlace = this.#stream.current): never {
    throw syntaxError(message, place);
  }

  #place(): NodePlace {
    const { line, column } = this.#stream.current;
    return { line, column };
  }

  /** @param withCondition Whether it may be `a if b else c`. */
  expression(withCondition = true): Expr {
    if (++this.#depth > DEEPEST) this.#fail("The expression is nested too deeply.");
    const node = withCondition ? this.#condition() : this.#or();
    this.#depth--;
    return node;
  }

  #condition(): Expr {
    let place = this.#place();
    let node = this.#or();
    while (this.#stream.skipIf("name:if")) {
      const test = this.#or();
      const expr2 = this.#stream.skipIf("name:else") ? this.expression() : null;
      node = { type: "CondExpr", test, expr1: node, expr2, ...place };
      place = this.#place();
    }
    return node;
  }

  #or(): Expr {
    let place = this.#place();
    let left = this.#and();
    while (this.#stream.skipIf("name:or")) {
      left = { type: "Or", left, right: this.#and(), ...place };
      place = this.#place();
    }
    return left;
  }

  #and(): Expr {
    let place = this.#place();
    let left = this.#not();
    while (this.#stream.skipIf("name:and")) {
      left = { type: "And", left, right: this.#not(), ...place };
      place = this.#place();
    }
    return left;
  }

  #not(): Expr {
    const places: NodePlace[] = [];
    while (this.#stream.test("name:not")) {
      places.push(this.#place());
      this.#stream.next();
      if (places.length > DEEPEST) this.#fail("The expression is nested too deeply.");
    }
    return places.reduceRight<Expr>((node, place) => ({ type: "Not", node, ...place }), this.#compare());
  }

  #compare(): Expr {
    let place = this.#place();
    const expr = this.#binary(SUMS, () => this.#concat());
    const ops: Operand[] = [];
    for (let op = this.#comparison(); op !== undefined; op = this.#comparison()) {
      const operand = this.#binary(SUMS, () => this.#concat());
      ops.push({ type: "Operand", op, expr: operand, line: operand.line, column: operand.column });
      place = this.#place();
    }
    return ops.length === 0 ? expr : { type: "Compare", expr, ops, ...place };
  }

  /** Reads a comparison operator. */
  #comparison(): CompareOperator | undefined {
    const operator = COMPARISONS.get(this.#stream.current.type);
    if (operator !== undefined) {
      this.#stream.next();
      return operator;
    }
    if (this.#stream.skipIf("name:in")) return "in";
    if (!this.#stream.test("name:not")) return undefined;
    const next = this.#stream.look();
    if (next.type !== "name" || next.value !== "in") return undefined;
    this.#stream.next();
    this.#stream.next();
    return "notin";
  }

  #binary(operators: ReadonlyMap<string, BinaryType>, operand: () => Expr): Expr {
    let place = this.#place();
    let left = operand();
    for (let type = operators.get(this.#stream.current.type); type !== undefined;) {
      this.#stream.next();
      left = { type, left, right: operand(), ...place };
      place = this.#place();
      type = operators.get(this.#stream.current.type);
    }
    return left;
  }

  #concat(): Expr {
    const place = this.#place();
    const product = (): Expr => this.#binary(PRODUCTS, () => this.#binary(POWERS, () => this.#unary()));
    const nodes = [product()];
    while (this.#stream.skipIf("tilde")) nodes.push(product());
    return nodes.length === 1 ? nodes[0] : { type: "Concat", nodes, ...place };
  }

  #unary(withFilter = true): Expr {
    if (++this.#depth > DEEPEST) this.#fail("The expression is nested too deeply.");
    const { type } = this.#stream.current;
    const place = this.#place();
    let node: Expr;
    if (type === "sub" || type === "add") {
      this.#stream.next();
      node = { type: type === "sub" ? "Neg" : "Pos", node: this.#unary(false), ...place };
    } else node = this.primary();
    node = this.#postfix(node);
    this.#depth--;
    return withFilter ? this.#filtersAndTests(node) : node;
  }

  /**
   * A name, a literal, or an expression in brackets.
   * @param withNamespace Whether it may be `name.attribute`.
   */
  primary(withNamespace = false): Expr {
    const token = this.#stream.current;
    const place = { line: token.line, column: token.column };
    switch (token.type) {
      case "name": {
        this.#stream.next();
        const name = String(token.value);
        const constant = CONSTANTS.get(name);
        if (constant !== undefined) return { type: "Const", value: constant, ...place };
        if (!withNamespace || !this.#stream.skipIf("dot")) return { type: "Name", name, ctx: "load", ...place };
        return { type: "NSRef", name, attr: String(this.#stream.expect("name").value), ...place };
      }
      case "string": {
        let text = "";
        while (this.#stream.current.type === "string") text += String(this.#stream.next().value);
        return { type: "Const", value: text, ...place };
      }
      case "integer":
      case "float":
        this.#stream.next();
        return { type: "Const", value: token.value, ...place };
      case "lparen": {
        this.#stream.next();
        const node = this.tuple({ parenthesized: true });
        this.#stream.expect("rparen");
        return node;
      }
      case "lbracket":
        return this.#list(place);
      case "lbrace":
        return this.#dict(place);
      default:
        return this.#fail(`unexpected ${repr(describeToken(token))}`, place);
    }
  }

  /** What may be assigned to. */
  assignTarget(options: { readonly withNamespace?: boolean; readonly endTokens?: readonly string[] }): Expr {
    const target = this.tuple({ simplified: true, ...options });
    setContext(target, "store");
    if (!canAssign(target)) this.#fail(`can't assign to ${repr(target.type.toLowerCase())}`, target);
    return target;
  }

  /** Expressions with commas between them are a tuple; one alone is itself. */
  tuple(options: TupleOptions = {}): Expr {
    let place = this.#place();
    const items: Expr[] = [];
    let isTuple = false;
    while (true) {
      if (items.length > 0) this.#stream.expect("comma");
      if (this.#endsTuple(options.endTokens)) break;
      items.push(
        options.simplified === true ? this.primary(options.withNamespace) : this.expression(options.withCondition),
      );
      if (this.#stream.current.type !== "comma") break;
      isTuple = true;
      place = this.#place();
    }
    if (!isTuple) {
      if (items.length > 0) return items[0];
      if (options.parenthesized !== true) {
        this.#fail(`Expected an expression, got ${repr(describeToken(this.#stream.current))}`);
      }
    }
    return { type: "Tuple", items, ctx: "load", ...place };
  }

  #endsTuple(endTokens: readonly string[] = []): boolean {
    const { type } = this.#stream.current;
    if (type === "variable_end" || type === "block_end" || type === "rparen") return true;
    return endTokens.some((token) => this.#stream.test(token));
  }

  /** Items up to a closing bracket, separated by commas, with an optional one after the last. */
  #items(end: string, read: () => void): void {
    for (let first = true; this.#stream.current.type !== end; first = false) {
      if (!first) this.#stream.expect("comma");
      if (this.#stream.current.type === end) break;
      read();
    }
    this.#stream.expect(end);
  }

  #list(place: NodePlace): Expr {
    this.#stream.next();
    const items: Expr[] = [];
    this.#items("rbracket", () => items.push(this.expression()));
    return { type: "List", items, ...place };
  }

  #dict(place: NodePlace): Expr {
    this.#stream.next();
    const items: Pair[] = [];
    this.#items("rbrace", () => {
      const key = this.expression();
      this.#stream.expect("colon");
      items.push({ type: "Pair", key, value: this.expression(), line: key.line, column: key.column });
    });
    return { type: "Dict", items, ...place };
  }

  /** Attributes, items and calls after a node. */
  #postfix(node: Expr): Expr {
    while (true) {
      const { type } = this.#stream.current;
      if (type === "dot" || type === "lbracket") node = this.#subscript(node);
      else if (type === "lparen") node = this.#call(node);
      else return node;
    }
  }

  #filtersAndTests(node: Expr): Expr {
    while (true) {
      const { type } = this.#stream.current;
      if (type === "pipe") node = this.filters(node);
      else if (this.#stream.test("name:is")) node = this.#test(node);
      else if (type === "lparen") node = this.#call(node);
      else return node;
    }
  }

  #subscript(node: Expr): Expr {
    const { type, line, column } = this.#stream.next();
    const place = { line, column };
    if (type === "dot") {
      const token = this.#stream.next();
      if (token.type === "name") return { type: "Getattr", node, attr: String(token.value), ctx: "load", ...place };
      if (token.type !== "integer") this.#fail("expected name or number", token);
      const arg: Expr = { type: "Const", value: token.value, line: token.line, column: token.column };
      return { type: "Getitem", node, arg, ctx: "load", ...place };
    }
    const args: Expr[] = [];
    while (this.#stream.current.type !== "rbracket") {
      if (args.length > 0) this.#stream.expect("comma");
      args.push(this.#subscribed());
    }
    this.#stream.expect("rbracket");
    const arg: Expr = args.length === 1 ? args[0] : { type: "Tuple", items: args, ctx: "load", ...place };
    return { type: "Getitem", node, arg, ctx: "load", ...place };
  }

  #subscribed(): Expr {
    const place = this.#place();
    let start: Expr | null = null;
    if (!this.#stream.skipIf("colon")) {
      start = this.expression();
      if (!this.#stream.skipIf("colon")) return start;
    }
    const sliceBound = (): Expr | null => {
      const { type } = this.#stream.current;
      return type === "rbracket" || type === "comma" ? null : this.expression();
    };
    const stop = this.#stream.current.type === "colon" ? null : sliceBound();
    const step = this.#stream.skipIf("colon") ? sliceBound() : null;
    return { type: "Slice", start, stop, step, ...place };
  }

  #arguments(): Arguments {
    const place = this.#place();
    this.#stream.expect("lparen");
    const args: Arguments = { args: [], kwargs: [], dynArgs: null, dynKwargs: null };
    const ensure = (valid: boolean) => {
      if (!valid) this.#fail("invalid syntax for function call expression", place);
    };
    this.#items("rparen", () => {
      const { type } = this.#stream.current;
      if (type === "mul") {
        ensure(args.dynArgs === null && args.dynKwargs === null);
        this.#stream.next();
        args.dynArgs = this.expression();
      } else if (type === "pow") {
        ensure(args.dynKwargs === null);
        this.#stream.next();
        args.dynKwargs = this.expression();
      } else if (type === "name" && this.#stream.look().type === "assign") {
        ensure(args.dynKwargs === null);
        const key = String(this.#stream.next().value);
        this.#stream.next();
        const value = this.expression();
        args.kwargs.push({ type: "Keyword", key, value, line: value.line, column: value.column });
      } else {
        ensure(args.dynArgs === null && args.dynKwargs === null && args.kwargs.length === 0);
        args.args.push(this.expression());
      }
    });
    return args;
  }

  #call(node: Expr): Expr {
    const place = this.#place();
    return { type: "Call", node, ...this.#arguments(), ...place };
  }

  /** The filters of a block: the first has no `|` before it, and no node. */
  filterBlock(): Expr {
    return this.filters(this.#filter(null));
  }

  /** Filters after a node. */
  filters<T extends Expr | null>(node: T): T | Expr {
    let filtered: T | Expr = node;
    while (this.#stream.skipIf("pipe")) filtered = this.#filter(filtered);
    return filtered;
  }

  #filter(node: Expr | null): Expr {
    const place = this.#place();
    const name = this.#dottedName();
    const args = this.#stream.current.type === "lparen" ? this.#arguments() : noArguments();
    return { type: "Filter", node, name, ...args, ...place };
  }

  #dottedName(): string {
    let name = String(this.#stream.expect("name").value);
    while (this.#stream.skipIf("dot")) name += `.${this.#stream.expect("name").value}`;
    return name;
  }

  #test(node: Expr): Expr {
    const place = this.#place();
    this.#stream.next();
    const negated = this.#stream.skipIf("name:not");
    const name = this.#dottedName();
    const test: Expr = { type: "Test", node, name, ...this.#testArguments(), ...place };
    return negated ? { type: "Not", node: test, ...place } : test;
  }

  #testArguments(): Arguments {
    const { type } = this.#stream.current;
    if (type === "lparen") return this.#arguments();
    const starts = ["name", "string", "integer", "float", "lbracket", "lbrace"].includes(type);
    const ends = ["name:else", "name:or", "name:and"].some((token) => this.#stream.test(token));
    if (!starts || ends) return noArguments();
    if (this.#stream.test("name:is")) this.#fail("You cannot chain multiple tests with is");
    return { ...noArguments(), args: [this.#postfix(this.primary())] };
  }
}

function noArguments(): Arguments {
  return { args: [], kwargs: [], dynArgs: null, dynKwargs: null };
}

/** Whether it may be assigned to. */
function canAssign(target: Expr): boolean {
  if (target.type === "Name") return !["true", "false", "none", "True", "False", "None"].includes(target.name);
  if (target.type === "Tuple") return target.items.every(canAssign);
  return target.type === "NSRef";
}
