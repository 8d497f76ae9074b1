/**
 * The descriptions of plugins in Python, checked: they come from a process of code that is not trusted.
 * @module
 */

import type { Parameter } from "#lib/plugins/module.ts";
import type { FunctionSignature } from "#lib/plugins/call.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

/** One function of a plugin, without its code. */
export interface DescribedFunction {
  /** The full name: `br.ping`. */
  readonly name: string;
  readonly signature: FunctionSignature;
}

/** The plugins of a family. */
export interface Descriptions {
  readonly functions: readonly DescribedFunction[];
  /** The files that do not load on this host, with the reason that a caller is told; empty: none was given. */
  readonly refusals: ReadonlyMap<string, string>;
  /** The files that are broken, with the place. */
  readonly problems: ReadonlyMap<string, string>;
  /** The documentation of the modules by their names. */
  readonly docs: ReadonlyMap<string, string | null>;
}

/** Reads the descriptions. Invalid ones are left out. */
export function parseDescriptions(value: Value): Descriptions {
  const functions = new Map<string, FunctionSignature>();
  const listed = fieldOf(value, "functions");
  for (const one of Array.isArray(listed) ? listed : []) {
    const name = fieldOf(one, "name");
    // Of two files with one function, the first wins.
    if (typeof name === "string" && !functions.has(name)) functions.set(name, signatureOf(one));
  }
  return {
    functions: [...functions].map(([name, signature]) => ({ name, signature })),
    refusals: textsOf(fieldOf(value, "refusals")),
    problems: textsOf(fieldOf(value, "problems")),
    docs: docsOf(fieldOf(value, "docs")),
  };
}

function signatureOf(described: Value): FunctionSignature {
  const [args, given, doc] = ["args", "defaults", "doc"].map((name) => fieldOf(described, name));
  const names = Array.isArray(args) ? args.map(str) : [];
  const defaults = Array.isArray(given) ? given : [];
  const required = names.length - defaults.length;
  const params = names.map((name, i): [string, Parameter] => [
    name,
    i < required ? { type: "any" } : { type: "any", default: defaults[i - required] },
  ]);
  return {
    doc: typeof doc === "string" ? doc : "",
    docstring: typeof doc === "string" ? doc : null,
    params: Object.fromEntries(params),
    ...fieldOf(described, "varargs") === true && { varArgs: "args" },
    ...fieldOf(described, "kwargs") === true && { varKwargs: "kwargs" },
  };
}

function fieldOf(value: Value, name: string): Value {
  return isMap(value) ? value.get(name) ?? null : null;
}

function docsOf(value: Value): ReadonlyMap<string, string | null> {
  const docs = isMap(value) ? [...value] : [];
  return new Map(docs.map(([name, doc]) => [str(name), typeof doc === "string" ? doc : null] as const));
}

function textsOf(value: Value): ReadonlyMap<string, string> {
  return new Map(isMap(value) ? [...value].map(([name, text]) => [str(name), str(text)]) : []);
}
