/**
 * Removes parts of js-yaml that no program uses when executables are built: schemas, their tags, and regular
 * expressions for writing YAML. js-yaml makes them when it is loaded, and nearly every start loads it.
 * @module
 */

/** The replacements in the library, with the number of occurrences. Line numbers do not change. */
const CHANGES: readonly { readonly found: RegExp; readonly times: number; readonly by: string }[] = [
  // rolldown removes unused values if their creation has no side effect. These annotations say that it has none.
  { found: /^(var \w+ = )(?=define\w+Tag\()/gm, times: 23, by: "$1/* @__PURE__ */ " },
  { found: /^(var [A-Z_]+ = )(?=new RegExp\()/gm, times: 10, by: "$1/* @__PURE__ */ " },
  {
    found: /^(var [A-Z\d_]+ = )(new Schema\(\[[^\]]*\]\)|\w+\.withTags\([^]*?\n\}\)|\{[^]*?\n\});$/gm,
    times: 16,
    by: "$1/* @__PURE__ */ (() => ($2))();",
  },
  // Two tables of 256 entries, of which eighteen are not empty: a function of the library gives the same values.
  {
    found: /^for \(let i = 0; i < 256; i\+\+\) \{\n\tsimpleEscapeCheck.*\n\tsimpleEscapeMap.*\n\}/gm,
    times: 1,
    by: "\n\n\n",
  },
  { found: /\bsimpleEscape(?:Check|Map)\[escaped\]/g, times: 2, by: "simpleEscapeSequence(escaped)" },
];

/** The path suffix of the library's file. */
export const YAML_FILE = /\/js-yaml\.mjs$/;

/**
 * The text of the library, changed so that it does less when it is loaded. Lines and results are the same.
 * @throws {Error} If the library's text has changed: then this file must be changed too.
 */
export function withYamlTables(text: string): string {
  let changed = text;
  for (const { found, times, by } of CHANGES) {
    const count = [...changed.matchAll(found)].length;
    if (count !== times) {
      throw new Error(`js-yaml has ${count} of ${found}, and not ${times} as scripts/build/yaml_tables.ts knows it`);
    }
    changed = changed.replace(found, by);
  }
  return changed;
}
