/**
 * The documentation of functions, chosen as `sys.doc` and the `doc` runner choose it.
 *
 * Knows nothing of modules' loading. Source: Salt 3008.3 `salt/modules/sysmod.py` doc, `salt/utils/doc.py` strip_rst.
 * @module
 */

import { compileGlob } from "#lib/text/glob.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** A named function with its documentation. */
export interface Documented {
  /** The full name, `test.ping`. */
  readonly name: string;
  /** The function, of which only the documentation counts. */
  readonly fun: { readonly doc: string; readonly docstring?: string | null };
}

/** Directives of reStructuredText that are removed. */
const DIRECTIVES: readonly (readonly [RegExp, string])[] = [
  [/ *\.\. code-block:: \S+\n{1,2}/g, ""],
  [/\.\. note::/g, "Note:"],
  [/\.\. warning::/g, "Warning:"],
  [/\.\. versionadded::/g, "New in version"],
  [/\.\. versionchanged::/g, "Changed in version"],
];

/** `doc` without the directives of reStructuredText. */
export function stripRst(doc: string): string {
  return DIRECTIVES.reduce((text, [directive, word]) => text.replaceAll(directive, () => word), doc);
}

/**
 * Matches a function's full name with `selector`: a module (`sys`), a function (`sys.doc`), or a glob (`sys.*`). A
 * module's name does not match modules whose names begin with it.
 */
export function selects(selector: string): (name: string) => boolean {
  if (selector.includes("*")) return compileGlob(selector);
  if (selector === "") return () => true;
  const prefix = selector.endsWith(".") ? selector : `${selector}.`;
  return (name) => name === selector || name.startsWith(prefix);
}

/**
 * The documentation of an execution module's function: `text`, then examples.
 * @param examples The part after the target on a command line: `test.sleep 20`.
 */
export function describe(text: string, ...examples: readonly [string, ...string[]]): string {
  return `${text}\n\nCLI Example:\n\n${examples.map((example) => `    salt '*' ${example}`).join("\n")}`;
}

/** `doc` in the layout of Python's docstrings, as Salt shows it: indented, with a newline before and after. */
export function asDocstring(doc: string): string {
  const lines = doc.trimEnd().replace(/^\s*\n/, "").split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const common = Math.min(...indents.slice(indents.length > 1 && indents[0] === 0 ? 1 : 0));
  const flush = lines.map((line) => line.slice(Math.min(common, line.length - line.trimStart().length)));
  return doc.trim() === "" ? "" : `\n${flush.map((line) => line === "" ? "" : `    ${line}`).join("\n")}\n    `;
}

/** The documentation of a function as it is shown; None for one in Python that has none. */
function shownDoc({ doc, docstring }: Documented["fun"]): Value {
  if (docstring === undefined) return asDocstring(stripRst(doc));
  return docstring === null ? null : stripRst(docstring);
}

/** Documentation by function name: of the functions that a selector matches, or of all without selectors. */
export function collectDocs(functions: readonly Documented[], selectors: readonly string[]): ValueMap {
  const docs = new Map<Value, Value>();
  const tests = selectors.length === 0 ? [() => true] : selectors.map(selects);
  for (const chosen of tests) {
    for (const { name, fun } of functions) if (chosen(name)) docs.set(name, shownDoc(fun));
  }
  return docs;
}

/** The module of a function's full name, `test` of `test.ping`. */
export function moduleOfFunction(fun: string): string {
  return fun.split(".", 1)[0];
}
