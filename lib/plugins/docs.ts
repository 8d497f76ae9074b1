/**
 * The documentation of functions, chosen as `sys.doc` and the `doc` runner choose it.
 *
 * Knows nothing of modules' loading. Source: Salt 3008.3 `salt/modules/sysmod.py` doc, `salt/utils/doc.py` strip_rst.
 * @module
 */

import { compileGlob } from "../text/glob.ts";
import type { Value, ValueMap } from "../values/value.ts";

/** A named function with its documentation. */
export interface Documented {
  /** The full name, `test.ping`. */
  readonly name: string;
  /** The function, of which only the documentation counts. */
  readonly fun: { readonly doc: string };
}

/** Directives of reStructuredText that a terminal's reader is better without. */
const DIRECTIVES: readonly (readonly [RegExp, string])[] = [
  [/ *\.\. code-block:: \S+\n{1,2}/g, ""],
  [/\.\. note::/g, "Note:"],
  [/\.\. warning::/g, "Warning:"],
  [/\.\. versionadded::/g, "New in version"],
  [/\.\. versionchanged::/g, "Changed in version"],
];

/** `doc` without the directives of reStructuredText. */
export function stripRst(doc: string): string {
  return DIRECTIVES.reduce((text, [directive, word]) => text.replaceAll(directive, word), doc);
}

/**
 * Whether a function's full name is chosen by `selector`: a module (`sys`), a function (`sys.doc`), or a glob (`sys.*`);
 * a module's name never chooses another module that merely begins like it.
 */
export function selects(selector: string): (name: string) => boolean {
  if (selector.includes("*")) return compileGlob(selector);
  if (selector === "") return () => true;
  const prefix = selector.endsWith(".") ? selector : `${selector}.`;
  return (name) => name === selector || name.startsWith(prefix);
}

/**
 * The documentation of a function of an execution module: `text`, then how it is called.
 * @param examples What follows the target on a command line: `test.sleep 20`.
 */
export function describe(text: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return text;
  return `${text}\n\nCLI Example:\n\n${examples.map((example) => `    salt '*' ${example}`).join("\n")}`;
}

/** `doc` laid out as Python's docstrings are, which is how Salt shows them: indented, a line's end before and after. */
export function asDocstring(doc: string): string {
  const lines = doc.replace(/^\s*\n|\s+$/g, "").split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const common = Math.min(...indents.slice(indents.length > 1 && indents[0] === 0 ? 1 : 0));
  const flush = lines.map((line) => line.slice(Math.min(common, line.length - line.trimStart().length)));
  return doc.trim() === "" ? "" : `\n${flush.map((line) => line === "" ? "" : `    ${line}`).join("\n")}\n    `;
}

/** Documentation by function name: of those that a selector chooses, or of all if there are no selectors. */
export function collectDocs(functions: readonly Documented[], selectors: readonly string[]): ValueMap {
  const docs = new Map<Value, Value>();
  const tests = selectors.length === 0 ? [() => true] : selectors.map(selects);
  for (const chosen of tests) {
    for (const { name, fun } of functions) if (chosen(name)) docs.set(name, asDocstring(stripRst(fun.doc)));
  }
  return docs;
}
