/**
 * Makes V8 compile the functions that each start calls together with their file, so that they are in its code cache.
 * Deno writes the cache of a file before the file runs. What V8 compiles later, at a function's first call, it compiles
 * again at each start. This took 10 of the 60 ms of `salt-call --local test.ping`.
 *
 * V8 compiles a function in parentheses at once. A declaration cannot be in parentheses, so it becomes a variable at
 * the beginning of the file, which is set before other code runs, as a declaration is.
 * @module
 */

import { parseAst } from "rolldown/parseAst";
import { firstFrom, mappingsOf, type Piece, type Place, placesIn } from "./source_map.ts";

/** A file of a script, with its source map. */
export interface MappedCode {
  readonly code: string;
  /** The source map's `mappings`. */
  readonly mappings: string;
  /** The source map's `sources`: paths. */
  readonly sources: readonly string[];
}

/** Names of top-level functions, by the path of their source: `{"lib/commands/cli/help.ts": ["helpText"]}`. */
export type FunctionNames = Readonly<Record<string, readonly string[]>>;

/** A node of a syntax tree, with the properties that all nodes have. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/**
 * `file` with the functions `called`, and those inside them, changed so that V8 compiles them together with the file.
 * This is not possible for methods.
 */
export function withEagerFunctions(file: MappedCode, called: FunctionNames): { code: string; mappings: string } {
  const { code, mappings, sources } = file;
  const places = placesIn(mappings, code);
  const names = new Map(Object.entries(called).map(([source, names]) => [source, new Set(names)]));
  const moved = topFunctions(code).filter(({ name, node }) => {
    const source = sources[sourceAt(places, node.start)];
    return source !== undefined && names.get(source)?.has(name.replace(/\$\d+$/, ""));
  });
  if (moved.length === 0) return { code, mappings };
  const head: Piece[] = [];
  const rest: Piece[] = [];
  let at = 0;
  for (const { node, nameStart, name } of moved) {
    const nameEnd = nameStart + name.length;
    // A function without a name of its own gets the name of the variable.
    head.push(head.length === 0 ? "var " : ",", { from: nameStart, to: nameEnd }, "=(");
    head.push({ from: node.start, to: nameStart }, ...inParentheses(node, { from: nameEnd, to: node.end }), ")");
    rest.push({ from: at, to: node.start });
    at = node.end;
  }
  const pieces = [...head, ";", ...rest, { from: at, to: code.length }];
  const text = pieces.map((piece) => typeof piece === "string" ? piece : code.slice(piece.from, piece.to)).join("");
  return { code: text, mappings: mappingsOf(pieces, code, places) };
}

/** The top-level functions of a file, in its order. */
export function topFunctions(code: string): { node: Node; name: string; nameStart: number }[] {
  const { body }: { readonly body: unknown } = parseAst(code);
  return nodesIn(body).flatMap((node) => {
    if (node.type !== "FunctionDeclaration" || !isNode(node.id)) return [];
    return [{ node, name: code.slice(node.id.start, node.id.end), nameStart: node.id.start }];
  });
}

/** The index of the source of the character at `offset`; -1: none. */
export function sourceAt(places: readonly Place[], offset: number): number {
  const index = firstFrom(places, offset + 1) - 1;
  return places[index]?.segment[0] ?? -1;
}

/** The text of a part of a function, with parentheses around the functions in it. */
function inParentheses(node: Node, { from, to }: { readonly from: number; readonly to: number }): Piece[] {
  const inserted = new Map<number, string>();
  const insert = (at: number, text: string) => inserted.set(at, (inserted.get(at) ?? "") + text);
  const visit = (value: unknown, key: string, parent: Node) => {
    if (Array.isArray(value)) return value.forEach((item) => visit(item, key, parent));
    if (!isNode(value)) return;
    if (isFunction(value) && !isMethod(parent, key)) {
      insert(value.start, "(");
      insert(value.end, ")");
    }
    for (const [name, child] of Object.entries(value)) visit(child, name, value);
  };
  for (const [name, child] of Object.entries(node)) visit(child, name, node);
  const pieces: Piece[] = [];
  let at = from;
  for (const [offset, text] of [...inserted].sort(([a], [b]) => a - b)) {
    pieces.push({ from: at, to: offset }, text);
    at = offset;
  }
  return [...pieces, { from: at, to }];
}

function isFunction({ type }: Node): boolean {
  return type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

/** Whether the value of `key` in `parent` is the function of a method: it is not an expression. */
function isMethod({ type, method, kind }: Node, key: string): boolean {
  if (key !== "value") return false;
  return type === "MethodDefinition" || type === "Property" && (method === true || kind !== "init");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;
}

function nodesIn(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}
