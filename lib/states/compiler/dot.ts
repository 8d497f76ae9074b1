/**
 * The graph of requisites in Graphviz's language, for `state.graph`.
 * Source: Salt 3008.3, `DependencyGraph.to_dot` of `salt/utils/requisite.py`.
 * @module
 */

import { field } from "./chunks.ts";
import type { RequisiteGraph } from "./requisite_graph.ts";

/** The graph as `digraph G { … }`. Quotes in names are escaped, which Salt leaves out. */
export function toDot({ nodes }: RequisiteGraph): string {
  const lines = ["digraph G {"];
  for (const { tag, data: { chunk } } of nodes.values()) {
    const [id, name] = [field(chunk, "__id__"), field(chunk, "name")];
    const label = [`${field(chunk, "state")}.${field(chunk, "fun")}`, id, ...name === id ? [] : [`(${name})`]];
    lines.push(`  "${escape(tag)}" [label="${label.map(escape).join("\\n")}"];`);
  }
  for (const { tag, out } of nodes.values()) {
    for (const [to, kinds] of out) {
      for (const kind of kinds) lines.push(`  "${escape(tag)}" -> "${escape(to.tag)}" [label="${kind}"];`);
    }
  }
  return [...lines, "}"].join("\n");
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
}
