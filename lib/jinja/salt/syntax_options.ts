/**
 * Options of Jinja's environment that operators set: `jinja_sls_env` for state files, `jinja_env` for other templates,
 * and a line `#jinja2: {…}` in the file itself. Source: Salt 3008.3, `salt/utils/templates.py` render_jinja_tmpl;
 * jinja.palletsprojects.com, "jinja2.Environment".
 * @module
 */

import type { SyntaxOptions } from "#lib/jinja/syntax/syntax.ts";
import { JsonError } from "#lib/errors.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { textOrNull } from "#lib/values/shape.ts";

type Log = (level: "warning", message: string) => void;

/** The options that are texts, by Jinja's names. */
const TEXTS = {
  block_start_string: "blockStart",
  block_end_string: "blockEnd",
  variable_start_string: "variableStart",
  variable_end_string: "variableEnd",
  comment_start_string: "commentStart",
  comment_end_string: "commentEnd",
  newline_sequence: "newlineSequence",
} as const satisfies Readonly<Record<string, keyof SyntaxOptions>>;

/** Those that may also be None. */
const PREFIXES = {
  line_statement_prefix: "lineStatementPrefix",
  line_comment_prefix: "lineCommentPrefix",
} as const satisfies Readonly<Record<string, keyof SyntaxOptions>>;

/** Those that are switches. */
const SWITCHES = {
  trim_blocks: "trimBlocks",
  lstrip_blocks: "lstripBlocks",
  keep_trailing_newline: "keepTrailingNewline",
} as const satisfies Readonly<Record<string, keyof SyntaxOptions>>;

type Changes = { -readonly [K in keyof SyntaxOptions]?: SyntaxOptions[K] };

function has<T extends object>(table: T, name: PropertyKey): name is keyof T {
  return Object.hasOwn(table, name);
}

/** Adds the options in `given` to `changes`. One that Jinja does not have is logged. */
function add(changes: Changes, given: Value | undefined, log: Log): void {
  if (!isMap(given)) return;
  for (const [key, value] of given) {
    const name = str(key).toLowerCase();
    if (has(TEXTS, name)) changes[TEXTS[name]] = str(value);
    else if (has(PREFIXES, name)) changes[PREFIXES[name]] = textOrNull(value);
    else if (has(SWITCHES, name)) changes[SWITCHES[name]] = truthy(value);
    else log("warning", `Jinja2 environment ${name} is not recognized`);
  }
}

/** The options for a file of `sls` (empty: no state file), and the text to render. */
export function syntaxOptions(
  text: string,
  { opts, sls, log }: { readonly opts: ValueMap; readonly sls: string; readonly log: Log },
): { readonly text: string; readonly options: Partial<SyntaxOptions> } {
  const options: Changes = {};
  if (truthy(opts.get("jinja_trim_blocks"))) options.trimBlocks = true;
  if (truthy(opts.get("jinja_lstrip_blocks"))) options.lstripBlocks = true;
  add(options, opts.get(sls === "" ? "jinja_env" : "jinja_sls_env"), log);
  const header = fileHeader(text);
  if (header === undefined) return { text, options };
  const own = readHeader(header.json, log);
  if (own === undefined) return { text, options };
  add(options, own, log);
  return { text: text.slice(0, header.start) + text.slice(header.end), options };
}

const HEADER = "#jinja2:";

/** The line with a file's own options: its first, or the one after `#!`. */
function fileHeader(text: string): { readonly json: string; readonly start: number; readonly end: number } | undefined {
  const first = /^#!(?!\/)[^\r\n]*(?:\r\n|\r|\n)/.exec(text)?.[0].length ?? 0;
  if (!text.startsWith(HEADER, first)) return undefined;
  const line = /^[^\r\n]*(?:\r\n|\r|\n|$)/.exec(text.slice(first))?.[0] ?? "";
  return { json: line.slice(HEADER.length).trim(), start: first, end: first + line.length };
}

function readHeader(json: string, log: Log): ValueMap | undefined {
  if (json === "") return undefined;
  try {
    const value = parseJson(json);
    if (isMap(value)) return value;
    log("warning", `Ignoring '${HEADER}' header that is not a JSON object: ${HEADER} ${json}`);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    log("warning", `Ignoring malformed '${HEADER}' header in template: ${HEADER} ${json}`);
  }
  return undefined;
}
