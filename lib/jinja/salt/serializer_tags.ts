/**
 * The tags of Salt's serializer extension: `load_yaml`, `load_json`, `load_text`, `import_yaml`, `import_json`,
 * `import_text` and `profile`. They are made of Jinja's own nodes, as in Salt. Source: Salt 3008.3,
 * `salt/utils/jinja.py` SerializerExtension.
 * @module
 */

import type { Expr, NodePlace, Stmt } from "#lib/jinja/syntax/nodes.ts";
import type { Parser, Tag } from "#lib/jinja/syntax/parser.ts";
import type { Run } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { hostOf } from "./host_object.ts";

const NO_ARGUMENTS = { args: [], kwargs: [], dynArgs: null, dynKwargs: null };

function name(at: NodePlace, name: string, ctx: "load" | "store"): Expr {
  return { type: "Name", name, ctx, line: at.line, column: at.column };
}

function applyFilter(at: NodePlace, node: Expr, filter: string): Expr {
  return { type: "Filter", node, name: filter, ...NO_ARGUMENTS, line: at.line, column: at.column };
}

/** `{% load_yaml as x %}…{% endload %}`: the body is a macro, whose text the filter of the tag's name reads. */
const loadTag: Tag = (parser) => {
  const { value: filter, line, column } = parser.stream.next();
  const at: NodePlace = { line, column };
  parser.stream.expect("name:as");
  const target = parser.parseAssignTarget();
  const macro = `_${parser.freeName()}`;
  const body = parser.parseStatements(["name:endload"], { dropNeedle: true });
  const call: Expr = { type: "Call", node: name(at, macro, "load"), ...NO_ARGUMENTS, ...at };
  return [
    { type: "Macro", name: macro, args: [], defaults: [], body, ...at },
    { type: "Assign", target, node: applyFilter(at, call, strOf(filter)), ...at },
  ];
};

/** `{% import_yaml 'file' as x %}`: an import, whose text the filter reads. */
function importTag(format: string): Tag {
  return (parser) => {
    const node = parser.parseImport();
    const at: NodePlace = { line: node.line, column: node.column };
    const loaded: Stmt = {
      type: "Assign",
      target: name(at, node.target, "store"),
      node: applyFilter(at, name(at, node.target, "load"), `load_${format}`),
      ...at,
    };
    return wrapProfile(parser, { label: node.template, source: `import_${format}`, body: [node, loaded], at });
  };
}

const profileTag: Tag = (parser) => {
  const { line, column } = parser.stream.next();
  parser.stream.expect("name:as");
  const label = parser.parseExpression();
  const body = parser.parseStatements(["name:endprofile"], { dropNeedle: true });
  return wrapProfile(parser, { label, source: "profile block", body, at: { line, column } });
};

/** A part of a template whose time is logged. */
interface Profiled {
  readonly label: Expr;
  readonly source: string;
  readonly body: readonly Stmt[];
  readonly at: NodePlace;
}

/** Records when a part begins. */
const begin: Run = ([label, source]) => new Tuple([label, source, performance.now()]);

/** Logs how long it took. */
const end: Run = ([started], _kwargs, context) => {
  const [label, source, sinceMs] = started instanceof Tuple ? started : [];
  const seconds = (performance.now() - Number(sinceMs)) / 1000;
  hostOf(context)?.log("debug", `Time (in seconds) to render ${strOf(source)} '${strOf(label)}': ${seconds}`);
  return null;
};

/** The part between two calls, which keep the time in their own variable. */
function wrapProfile(parser: Parser, { label, source, body, at }: Profiled): Stmt[] {
  const variable = `_salt_profile_${parser.freeName()}`;
  const call = (run: Run, args: Expr[]): Expr => ({ type: "HostCall", name: `profile_${run.name}`, run, args, ...at });
  return [
    {
      type: "Assign",
      target: name(at, variable, "store"),
      node: call(begin, [label, { type: "Const", value: source, ...at }]),
      ...at,
    },
    ...body,
    { type: "ExprStmt", node: call(end, [name(at, variable, "load")]), ...at },
  ];
}

/** The tags by name. */
export const SERIALIZER_TAGS: ReadonlyMap<string, Tag> = new Map<string, Tag>([
  ["load_yaml", loadTag],
  ["load_json", loadTag],
  ["load_text", loadTag],
  ["import_yaml", importTag("yaml")],
  ["import_json", importTag("json")],
  ["import_text", importTag("text")],
  ["profile", profileTag],
]);
