/**
 * The tree of a template: nodes with the names and fields of Python's Jinja, so that both trees can be compared.
 * Source: jinja2 3.1, "nodes".
 * @module
 */

import type { Obj, Run } from "#lib/python/object.ts";

/** Where a node begins, from 1. The line is the one that Python's Jinja gives the node. */
export interface NodePlace {
  readonly line: number;
  readonly column: number;
}

/** Whether a name is read, assigned, or a parameter. */
export type NameContext = "load" | "store" | "param";

/** The binary operators. */
export type BinaryType = "Add" | "Sub" | "Mul" | "Div" | "FloorDiv" | "Mod" | "Pow" | "And" | "Or";

/** The operators of comparisons, by Jinja's names. */
export type CompareOperator = "eq" | "ne" | "lt" | "lteq" | "gt" | "gteq" | "in" | "notin";

/** The fields that calls, filters and tests have in common. */
export interface Arguments {
  args: Expr[];
  kwargs: Keyword[];
  dynArgs: Expr | null;
  dynKwargs: Expr | null;
}

/** An expression. */
export type Expr =
  & NodePlace
  & (
    | { type: "Name"; name: string; ctx: NameContext }
    | { type: "NSRef"; name: string; attr: string }
    | { type: "Const"; value: Obj }
    | { type: "TemplateData"; data: string }
    | { type: "Tuple"; items: Expr[]; ctx: NameContext }
    | { type: "List"; items: Expr[] }
    | { type: "Dict"; items: Pair[] }
    | { type: "CondExpr"; test: Expr; expr1: Expr; expr2: Expr | null }
    | ({ type: "Filter"; node: Expr | null; name: string } & Arguments)
    | ({ type: "Test"; node: Expr; name: string } & Arguments)
    | ({ type: "Call"; node: Expr } & Arguments)
    | { type: "Getitem"; node: Expr; arg: Expr; ctx: NameContext }
    | { type: "Getattr"; node: Expr; attr: string; ctx: NameContext }
    | { type: "Slice"; start: Expr | null; stop: Expr | null; step: Expr | null }
    | { type: "Concat"; nodes: Expr[] }
    | { type: "Compare"; expr: Expr; ops: Operand[] }
    | BinaryFields
    | UnaryFields
    | HostCall
  );

interface BinaryFields {
  type: BinaryType;
  left: Expr;
  right: Expr;
}

interface UnaryFields {
  type: "Not" | "Neg" | "Pos";
  node: Expr;
}

/** An operator between two operands. */
export type BinaryNode = NodePlace & BinaryFields;
/** An operator before its operand. */
export type UnaryNode = NodePlace & UnaryFields;

/** A call of a function that an extension's tag puts into the tree. */
export interface HostCall {
  type: "HostCall";
  /** For dumps of the tree. */
  name: string;
  run: Run;
  args: Expr[];
}

/** A key and its value in a dict. */
export interface Pair extends NodePlace {
  type: "Pair";
  key: Expr;
  value: Expr;
}

/** A keyword argument. */
export interface Keyword extends NodePlace {
  type: "Keyword";
  key: string;
  value: Expr;
}

/** One step of a comparison. */
export interface Operand extends NodePlace {
  type: "Operand";
  op: CompareOperator;
  expr: Expr;
}

/** An imported name and its new name. */
export type ImportedName = string | readonly [name: string, alias: string];

/** A statement. */
export type Stmt =
  & NodePlace
  & (
    | { type: "Output"; nodes: Expr[] }
    | { type: "Extends"; template: Expr }
    | { type: "For"; target: Expr; iter: Expr; body: Stmt[]; orElse: Stmt[]; test: Expr | null; recursive: boolean }
    | { type: "If"; test: Expr; body: Stmt[]; elif: IfNode[]; orElse: Stmt[] }
    | { type: "Macro"; name: string; args: NameNode[]; defaults: Expr[]; body: Stmt[] }
    | { type: "CallBlock"; call: CallNode; args: NameNode[]; defaults: Expr[]; body: Stmt[] }
    | { type: "FilterBlock"; body: Stmt[]; filter: Expr }
    | { type: "With"; targets: Expr[]; values: Expr[]; body: Stmt[] }
    | { type: "Block"; name: string; body: Stmt[]; scoped: boolean; required: boolean }
    | { type: "Include"; template: Expr; withContext: boolean; ignoreMissing: boolean }
    | { type: "Import"; template: Expr; target: string; withContext: boolean }
    | { type: "FromImport"; template: Expr; names: ImportedName[]; withContext: boolean }
    | { type: "ExprStmt"; node: Expr }
    | { type: "Assign"; target: Expr; node: Expr }
    | { type: "AssignBlock"; target: Expr; filter: Expr | null; body: Stmt[] }
    | { type: "Continue" }
    | { type: "Break" }
    | { type: "Scope"; body: Stmt[] }
    | { type: "ScopedEvalContextModifier"; options: readonly [autoescape: Keyword]; body: Stmt[] }
  );

/** An expression that is a name. */
export type NameNode = Extract<Expr, { type: "Name" }>;
/** What a call block may call. */
export type CallNode = Extract<Expr, { type: "Call" }>;
/** An `if`, or an `elif` of one. */
export type IfNode = Extract<Stmt, { type: "If" }>;
/** The expression of one type. */
export type ExprOf<T extends Expr["type"]> = Extract<Expr, { type: T }>;
/** The statement of one type. */
export type StmtOf<T extends Stmt["type"]> = Extract<Stmt, { type: T }>;

/** The whole template. */
export interface TemplateNode extends NodePlace {
  type: "Template";
  body: Stmt[];
}

/** Any node. */
export type Node = Expr | Stmt | Pair | Keyword | Operand | TemplateNode;

/** The fields of each node in Jinja's order: its children are visited in this order. */
export const FIELDS: Readonly<Record<Node["type"], readonly string[]>> = {
  Template: ["body"],
  Output: ["nodes"],
  Extends: ["template"],
  For: ["target", "iter", "body", "orElse", "test", "recursive"],
  If: ["test", "body", "elif", "orElse"],
  Macro: ["name", "args", "defaults", "body"],
  CallBlock: ["call", "args", "defaults", "body"],
  FilterBlock: ["body", "filter"],
  With: ["targets", "values", "body"],
  Block: ["name", "body", "scoped", "required"],
  Include: ["template", "withContext", "ignoreMissing"],
  Import: ["template", "target", "withContext"],
  FromImport: ["template", "names", "withContext"],
  ExprStmt: ["node"],
  Assign: ["target", "node"],
  AssignBlock: ["target", "filter", "body"],
  Continue: [],
  Break: [],
  Scope: ["body"],
  ScopedEvalContextModifier: ["options", "body"],
  Name: ["name", "ctx"],
  NSRef: ["name", "attr"],
  Const: ["value"],
  TemplateData: ["data"],
  Tuple: ["items", "ctx"],
  List: ["items"],
  Dict: ["items"],
  Pair: ["key", "value"],
  Keyword: ["key", "value"],
  CondExpr: ["test", "expr1", "expr2"],
  Filter: ["node", "name", "args", "kwargs", "dynArgs", "dynKwargs"],
  Test: ["node", "name", "args", "kwargs", "dynArgs", "dynKwargs"],
  Call: ["node", "args", "kwargs", "dynArgs", "dynKwargs"],
  Getitem: ["node", "arg", "ctx"],
  Getattr: ["node", "attr", "ctx"],
  Slice: ["start", "stop", "step"],
  Concat: ["nodes"],
  Compare: ["expr", "ops"],
  Operand: ["op", "expr"],
  Add: ["left", "right"],
  Sub: ["left", "right"],
  Mul: ["left", "right"],
  Div: ["left", "right"],
  FloorDiv: ["left", "right"],
  Mod: ["left", "right"],
  Pow: ["left", "right"],
  And: ["left", "right"],
  Or: ["left", "right"],
  Not: ["node"],
  Neg: ["node"],
  Pos: ["node"],
  HostCall: ["name", "args"],
};

/** The fields that hold values, not nodes. */
const VALUES: ReadonlySet<string> = new Set(["value", "data", "names", "ctx", "name"]);

/** The nodes in the fields of `node`, in order. */
export function* children(node: Node): Generator<Node, void> {
  const fields = node as unknown as Readonly<Record<string, unknown>>;
  for (const name of FIELDS[node.type]) {
    if (VALUES.has(name) && !(name === "value" && (node.type === "Pair" || node.type === "Keyword"))) continue;
    const field = fields[name];
    if (Array.isArray(field)) yield* field as Node[];
    else if (typeof field === "object" && field !== null) yield field as Node;
  }
}

/** All nodes below `node` of a type, in order. */
export function* findAll<T extends Node["type"]>(node: Node, type: T): Generator<Extract<Node, { type: T }>, void> {
  const isWanted = (child: Node): child is Extract<Node, { type: T }> => child.type === type;
  for (const child of children(node)) {
    if (isWanted(child)) yield child;
    yield* findAll(child, type);
  }
}
