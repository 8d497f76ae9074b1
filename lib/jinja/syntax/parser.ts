/**
 * Reads the statements of a template. The tree is the one of Python's Jinja, errors have its messages.
 * Source: jinja2 3.1, "parser".
 * @module
 */

import type { TemplateError } from "./template_error.ts";
import { repr } from "#lib/values/value.ts";
import { syntaxError } from "./errors.ts";
import { ExpressionParser, setContext } from "./expression_parser.ts";
import type { Lexed } from "./lexer.ts";
import type { Expr, IfNode, ImportedName, NameNode, NodePlace, Stmt, StmtOf, TemplateNode } from "./nodes.ts";
import { describeExpected } from "./tokens.ts";
import { TokenStream } from "./token_stream.ts";

/** A tag of an extension: called when its name is the current token, returns the statements that replace it. */
export type Tag = (parser: Parser) => Stmt[];

/** How deep statements may be nested. */
const DEEPEST = 100;

/** Reads one template. */
export class Parser {
  readonly stream: TokenStream;
  readonly #tags: ReadonlyMap<string, Tag>;
  readonly #expressions: ExpressionParser;
  /** The tags that are open, for messages. */
  readonly #open: string[] = [];
  /** The tags that would close them. */
  readonly #closing: (readonly string[])[] = [];
  #names = 0;

  constructor(lexed: Lexed, tags: ReadonlyMap<string, Tag>) {
    this.stream = new TokenStream(lexed);
    this.#tags = tags;
    this.#expressions = new ExpressionParser(this.stream);
  }

  /**
   * The whole template.
   * @throws {TemplateError} Kind `syntax`.
   */
  parse(): TemplateNode {
    return { type: "Template", body: this.#body(undefined), line: 1, column: 1 };
  }

  /** @throws {TemplateError} A mistake, at `place`: without it, where the parser is. */
  fail(message: string, place: NodePlace = this.stream.current, type?: "TemplateAssertionError"): never {
    throw this.error(message, place, type);
  }

  /** The error of {@linkcode fail}. */
  error(message: string, place: NodePlace = this.stream.current, type?: "TemplateAssertionError"): TemplateError {
    return syntaxError(message, place, type);
  }

  /** The expression that begins at the current token, with its condition. */
  parseExpression(): Expr {
    return this.#expressions.expression();
  }

  /**
   * What may be assigned to.
   * @param options.nameOnly A single name.
   */
  parseAssignTarget(options: { nameOnly: true }): NameNode;
  /** A name, a tuple of targets, or `name.attribute` with `withNamespace`. */
  parseAssignTarget(options?: { withNamespace?: boolean; endTokens?: readonly string[] }): Expr;
  /** The code of both. */
  parseAssignTarget(
    options: { nameOnly?: boolean; withNamespace?: boolean; endTokens?: readonly string[] } = {},
  ): Expr {
    if (options.nameOnly === true) {
      const { value, line, column } = this.stream.expect("name");
      return { type: "Name", name: String(value), ctx: "store", line, column };
    }
    return this.#expressions.assignTarget(options);
  }

  /**
   * The statements up to one of the end tokens (`name:endfor`). The current token is then the end token, or with
   * `dropNeedle` the one after it.
   * @param options.dropNeedle Whether to skip the end token.
   */
  parseStatements(endTokens: readonly string[], options: { readonly dropNeedle?: boolean } = {}): Stmt[] {
    this.stream.skipIf("colon");
    this.stream.expect("block_end");
    const body = this.#body(endTokens);
    if (this.stream.current.type === "eof") this.#failAtEnd(endTokens);
    if (options.dropNeedle === true) this.stream.next();
    return body;
  }

  /** A name that no template can contain. */
  freeName(): string {
    return `fi${++this.#names}`;
  }

  #body(endTokens: readonly string[] | undefined): Stmt[] {
    const body: Stmt[] = [];
    let data: Expr[] = [];
    const flush = () => {
      if (data.length > 0) body.push({ type: "Output", nodes: data, line: data[0].line, column: data[0].column });
      data = [];
    };
    if (endTokens !== undefined) this.#closing.push(endTokens);
    if (this.#closing.length > DEEPEST) this.fail("The statements are nested too deeply.");
    while (this.stream.current.type !== "eof") {
      const { type, value, line, column } = this.stream.current;
      if (type === "data") {
        data.push({ type: "TemplateData", data: String(value), line, column });
        this.stream.next();
      } else if (type === "variable_begin") {
        this.stream.next();
        data.push(this.#expressions.tuple());
        this.stream.expect("variable_end");
      } else {
        flush();
        this.stream.next();
        if (endTokens?.some((token) => this.stream.test(token))) {
          this.#closing.pop();
          return body;
        }
        body.push(...this.#statement());
        this.stream.expect("block_end");
      }
    }
    flush();
    if (endTokens !== undefined) this.#closing.pop();
    return body;
  }

  #statement(): Stmt[] {
    const token = this.stream.current;
    if (token.type !== "name") this.fail("tag name expected", token);
    const name = String(token.value);
    const read = this.#readers.get(name);
    const tag = this.#tags.get(name);
    if (read === undefined && tag === undefined) this.#failUnknown(name, this.#closing, token);
    this.#open.push(name);
    const statements = read !== undefined ? [read()] : tag?.(this) ?? [];
    this.#open.pop();
    return statements;
  }

  #failAtEnd(endTokens: readonly string[]): never {
    return this.#failUnknown(undefined, [...this.#closing, endTokens], this.stream.current);
  }

  #failUnknown(name: string | undefined, closing: readonly (readonly string[])[], place: NodePlace): never {
    const message = [name === undefined ? "Unexpected end of template." : `Encountered unknown tag ${repr(name)}.`];
    const innermost = closing.at(-1);
    if (innermost !== undefined) {
      const wanted = innermost.map((token) => repr(describeExpected(token))).join(" or ");
      const nested = name !== undefined &&
        closing.some((tokens) => tokens.some((token) => describeExpected(token) === name));
      message.push(
        nested
          ? `You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${wanted}.`
          : `Jinja was looking for the following tags: ${wanted}.`,
      );
    }
    const open = this.#open.at(-1);
    if (open !== undefined) message.push(`The innermost block that needs to be closed is ${repr(open)}.`);
    return this.fail(message.join(" "), place);
  }

  /** An `import` statement: for tags that import in their own way. */
  parseImport(): StmtOf<"Import"> {
    const start = this.#begin();
    const template = this.parseExpression();
    this.stream.expect("name:as");
    const target = this.parseAssignTarget({ nameOnly: true }).name;
    return { type: "Import", template, target, withContext: this.#importContext(false), ...start };
  }

  /** Skips the tag's name. */
  #begin(): NodePlace {
    const { line, column } = this.stream.next();
    return { line, column };
  }

  #importContext(fallback: boolean): boolean {
    const { current } = this.stream;
    const hasContext = current.type === "name" && (current.value === "with" || current.value === "without");
    const next = hasContext ? this.stream.look() : undefined;
    if (next?.type !== "name" || next.value !== "context") return fallback;
    this.stream.next();
    this.stream.next();
    return current.value === "with";
  }

  /** Jinja's own statements, and those of its extensions `do` and `loopcontrols`. */
  readonly #readers: ReadonlyMap<string, () => Stmt> = new Map<string, () => Stmt>(Object.entries<() => Stmt>({
    for: () => this.#for(),
    if: () => this.#if(),
    block: () => this.#block(),
    extends: () => ({ ...this.#begin(), type: "Extends", template: this.parseExpression() }),
    print: () => this.#print(),
    macro: () => this.#macro(),
    include: () => this.#include(),
    from: () => this.#from(),
    import: () => this.parseImport(),
    set: () => this.#set(),
    with: () => this.#with(),
    autoescape: () => this.#autoescape(),
    call: () => this.#call(),
    filter: () => this.#filter(),
    do: () => ({ ...this.#begin(), type: "ExprStmt", node: this.#expressions.tuple() }),
    break: () => ({ ...this.#begin(), type: "Break" }),
    continue: () => ({ ...this.#begin(), type: "Continue" }),
  }));

  #set(): Stmt {
    const start = this.#begin();
    const target = this.parseAssignTarget({ withNamespace: true });
    if (this.stream.skipIf("assign")) return { type: "Assign", target, node: this.#expressions.tuple(), ...start };
    const filter = this.#expressions.filters(null);
    const body = this.parseStatements(["name:endset"], { dropNeedle: true });
    return { type: "AssignBlock", target, filter, body, ...start };
  }

  #for(): Stmt {
    const start = this.#begin();
    const target = this.parseAssignTarget({ endTokens: ["name:in"] });
    this.stream.expect("name:in");
    const iter = this.#expressions.tuple({ withCondition: false, endTokens: ["name:recursive"] });
    const test = this.stream.skipIf("name:if") ? this.parseExpression() : null;
    const recursive = this.stream.skipIf("name:recursive");
    const body = this.parseStatements(["name:endfor", "name:else"]);
    const orElse = this.stream.next().value === "endfor"
      ? []
      : this.parseStatements(["name:endfor"], { dropNeedle: true });
    return { type: "For", target, iter, body, orElse, test, recursive, ...start };
  }

  #if(): Stmt {
    const first = this.#branch(this.#begin());
    while (true) {
      const token = this.stream.next();
      if (token.value === "elif") {
        const { line, column } = this.stream.current;
        first.elif.push(this.#branch({ line, column }));
        continue;
      }
      if (token.value === "else") first.orElse = this.parseStatements(["name:endif"], { dropNeedle: true });
      return first;
    }
  }

  #branch(start: NodePlace): IfNode {
    const test = this.#expressions.tuple({ withCondition: false });
    const body = this.parseStatements(["name:elif", "name:else", "name:endif"]);
    return { type: "If", test, body, elif: [], orElse: [], ...start };
  }

  #with(): Stmt {
    const start = this.#begin();
    const targets: Expr[] = [], values: Expr[] = [];
    while (this.stream.current.type !== "block_end") {
      if (targets.length > 0) this.stream.expect("comma");
      const target = this.parseAssignTarget();
      setContext(target, "param");
      targets.push(target);
      this.stream.expect("assign");
      values.push(this.parseExpression());
    }
    return {
      type: "With",
      targets,
      values,
      body: this.parseStatements(["name:endwith"], { dropNeedle: true }),
      ...start,
    };
  }

  #autoescape(): Stmt {
    const start = this.#begin();
    const value = this.parseExpression();
    const body = this.parseStatements(["name:endautoescape"], { dropNeedle: true });
    const { line, column } = value;
    const options: StmtOf<"ScopedEvalContextModifier">["options"] = [
      { type: "Keyword", key: "autoescape", value, line, column },
    ];
    return { type: "Scope", body: [{ type: "ScopedEvalContextModifier", options, body, ...start }], ...start };
  }

  #block(): Stmt {
    const start = this.#begin();
    const name = String(this.stream.expect("name").value);
    const scoped = this.stream.skipIf("name:scoped");
    const required = this.stream.skipIf("name:required");
    if (this.stream.current.type === "sub") {
      this.fail(
        "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.",
      );
    }
    const body = this.parseStatements(["name:endblock"], { dropNeedle: true });
    const blank = (node: Expr) => node.type === "TemplateData" && /^\s+$/.test(node.data);
    if (required && !body.every((node) => node.type === "Output" && node.nodes.every(blank))) {
      this.fail("Required blocks can only contain comments or whitespace");
    }
    this.stream.skipIf(`name:${name}`);
    return { type: "Block", name, body, scoped, required, ...start };
  }

  #include(): Stmt {
    const start = this.#begin();
    const template = this.parseExpression();
    const next = this.stream.test("name:ignore") ? this.stream.look() : undefined;
    const ignoreMissing = next?.type === "name" && next.value === "missing";
    if (ignoreMissing) {
      this.stream.next();
      this.stream.next();
    }
    return { type: "Include", template, withContext: this.#importContext(true), ignoreMissing, ...start };
  }

  #from(): Stmt {
    const start = this.#begin();
    const template = this.parseExpression();
    this.stream.expect("name:import");
    const names: ImportedName[] = [];
    let withContext = false;
    const readContext = (): boolean => {
      const before = this.stream.current;
      withContext = this.#importContext(false);
      return this.stream.current !== before;
    };
    while (true) {
      if (names.length > 0) this.stream.expect("comma");
      if (this.stream.current.type !== "name") this.stream.expect("name");
      if (readContext()) break;
      const target = this.parseAssignTarget({ nameOnly: true });
      if (target.name.startsWith("_")) {
        this.fail("names starting with an underline can not be imported", target, "TemplateAssertionError");
      }
      names.push(
        this.stream.skipIf("name:as") ? [target.name, this.parseAssignTarget({ nameOnly: true }).name] : target.name,
      );
      if (readContext() || this.stream.current.type !== "comma") break;
    }
    return { type: "FromImport", template, names, withContext, ...start };
  }

  #signature(): { args: NameNode[]; defaults: Expr[] } {
    const args: NameNode[] = [], defaults: Expr[] = [];
    this.stream.expect("lparen");
    while (this.stream.current.type !== "rparen") {
      if (args.length > 0) this.stream.expect("comma");
      const arg = this.parseAssignTarget({ nameOnly: true });
      arg.ctx = "param";
      if (this.stream.skipIf("assign")) defaults.push(this.parseExpression());
      else if (defaults.length > 0) this.fail("non-default argument follows default argument");
      args.push(arg);
    }
    this.stream.expect("rparen");
    return { args, defaults };
  }

  #macro(): Stmt {
    const start = this.#begin();
    const { name } = this.parseAssignTarget({ nameOnly: true });
    const signature = this.#signature();
    return {
      type: "Macro",
      name,
      ...signature,
      body: this.parseStatements(["name:endmacro"], { dropNeedle: true }),
      ...start,
    };
  }

  #call(): Stmt {
    const start = this.#begin();
    const signature = this.stream.current.type === "lparen" ? this.#signature() : { args: [], defaults: [] };
    const call = this.parseExpression();
    if (call.type !== "Call") return this.fail("expected call", start);
    return {
      type: "CallBlock",
      call,
      ...signature,
      body: this.parseStatements(["name:endcall"], { dropNeedle: true }),
      ...start,
    };
  }

  #filter(): Stmt {
    const start = this.#begin();
    return {
      type: "FilterBlock",
      filter: this.#expressions.filterBlock(),
      body: this.parseStatements(["name:endfilter"], { dropNeedle: true }),
      ...start,
    };
  }

  #print(): Stmt {
    const start = this.#begin();
    const nodes: Expr[] = [];
    while (this.stream.current.type !== "block_end") {
      if (nodes.length > 0) this.stream.expect("comma");
      nodes.push(this.parseExpression());
    }
    return { type: "Output", nodes, ...start };
  }
}
