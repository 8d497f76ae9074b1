/**
 * What js-yaml makes when it is loaded and no program uses, left out when executables are built: schemas, their tags, and regular expressions that
 * write YAML. Nearly every start loads the library.
 * @module
 */

/** What is replaced in the library, with how often it is there. The lines stay. */
const CHANGES: readonly { readonly found: RegExp; readonly times: number; readonly by: string }[] = [
  // rolldown leaves out what nobody names if making it does nothing else, and takes these notes for that.
  { found: /^(var \w+ = )(?=define\w+Tag\()/gm, times: 23, by: "$1/* @__PURE__ */ " },
  { found: /^(var [A-Z_]+ = )(?=new RegExp\()/gm, times: 10, by: "$1/* @__PURE__ */ " },
  {
    found: /^(var [A-Z\d_]+ = )(new Schema\(\[[^\]]*\]\)|\w+\.withTags\([^]*?\n\}\)|\{[^]*?\n\});$/gm,
    times: 16,
    by: "$1/* @__PURE__ */ (() => ($2))();",
  },
  // Two tables of 256 entries, of which eighteen say something: a function of the library says the same.
  {
    found: /^for \(let i = 0; i < 256; i\+\+\) \{\n\tsimpleEscapeCheck.*\n\tsimpleEscapeMap.*\n\}/gm,
    times: 1,
    by: "\n\n\n",
  },
  { found: /\bsimpleEscape(?:Check|Map)\[escaped\]/g, times: 2, by: "simpleEscapeSequence(escaped)" },
];

/** The file of the library, as it ends. */
export const YAML_FILE = /\/js-yaml\.mjs$/;

/**
 * The text of the library, with the same lines and the same outcome, that makes less when it is loaded.
 * @throws {Error} If the library's text has changed, so that this file must follow.
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
