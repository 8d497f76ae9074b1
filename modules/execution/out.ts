/**
 * Execution module `out`: values as outputters show them, for templates and files.
 * Source: the functions of Salt 3008.3 `salt/modules/out.py`, `salt/output/__init__.py`.
 * @module
 */

import { CommandError, ConfigError } from "#lib/errors.ts";
import { DISPLAY_OPTIONS } from "#lib/config/display_options.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { ProcessEnvironment } from "#lib/config/place.ts";
import { stateDisplay, tableLayout } from "#lib/output/display_opts.ts";
import { formatOutput } from "#lib/output/outputters.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Keywords of the outputter `table`, which are options of the minion with `out.table.` before. */
const TABLE_KEYWORDS = [
  "has_header",
  "row_delimiter",
  "delim",
  "justify",
  "separate_rows",
  "prefix",
  "suffix",
  "width",
  "nested_indent",
  "rows_key",
  "labels_key",
  "title",
];
const KEYWORDS = [...TABLE_KEYWORDS, "_retcode", "indent_level"];

/** What the outputters take for options that are not there, unlike the minion. */
const BARE: ReadonlyMap<Value, Value> = new Map([["state_verbose", false], ["state_output_profile", false]]);

/** The surroundings of options that are read from no file: the job may not look at those of the process. */
const NOWHERE: ProcessEnvironment = {
  env: () => undefined,
  cwd: "/",
  hostNames: () => {
    throw new Error("the minion has an id");
  },
  user: () => "root",
};

/** What is shown, and how. */
interface Showing {
  readonly data: Value;
  readonly out: string | null;
  /** Options in place of the minion's; None: the minion's. */
  readonly opts: Value;
  readonly keywords: ValueMap;
}

/**
 * The options that say how outputters show values.
 * @throws {CommandError} If one is none.
 */
async function displayOpts(given: ValueMap, keywords: ValueMap, id: string): Promise<MinionOpts> {
  const values: Record<string, Value> = {};
  for (const name of Object.keys(DISPLAY_OPTIONS)) {
    const value = given.get(name);
    if (value !== undefined && value !== null) values[name] = value;
  }
  for (const name of TABLE_KEYWORDS) {
    const value = keywords.get(name);
    if (truthy(value)) values[`out.table.${name}`] = value ?? null;
  }
  const { loadMinionConfig } = await import("#lib/config/load.ts");
  try {
    const overrides = { ...values, id, file_client: "local" };
    return loadMinionConfig({ overrides, readsFiles: false, environment: NOWHERE }).opts;
  } catch (error) {
    throw error instanceof ConfigError ? new CommandError(error.message) : error;
  }
}

/** The outputter's name: that of the options, unless it is `highstate`, wins over the argument. */
function outputterName(out: string | null, opts: ValueMap): string {
  const set = opts.get("output");
  return (truthy(set) && set !== "highstate" ? str(set ?? null) : out) || "nested";
}

async function show({ data, out, opts, keywords }: Showing, context: JobContext): Promise<string> {
  const given = isMap(opts) && opts.size > 0 ? new Map([...BARE, ...opts]) : optsValues(context.opts);
  const display = await displayOpts(given, keywords, context.opts.id);
  const indent = toNumber(given.get("output_indent"));
  // The option `color` alone is for a terminal, which a job does not have.
  const isWanted = isMap(opts) && opts.get("color") === true && opts.get("no_color") !== true;
  return formatOutput(data, {
    out: outputterName(out, given),
    color: given.get("force_color") === true || isWanted,
    ...indent !== undefined && { indent },
    retcode: toNumber(keywords.get("_retcode")) ?? 0,
    nestedIndent: toNumber(keywords.get("nested_indent")) || (toNumber(given.get("nested_indent")) ?? 0),
    states: stateDisplay(display),
    table: tableLayout(display),
    warn: (text) => context.log("error", text),
  });
}

function withoutColours(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/\x1b[^m]*m/g, "");
}

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  " ": "&nbsp;",
  "\n": "<br />",
};

const MORE = `

data
    The value.

out
    The outputter. Default: nested.

opts
    Options in place of the minion's: state_output, out.table.width, color, ….

Other keywords are those of the outputter, such as title, rows_key and width of table.`;

function formatting(name: string, text: string, finish: (text: string) => string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${text}${MORE}`, `out.${name} "{'key': 'value'}" out=table`),
    params: { data: p.any(), out: p.str("nested"), opts: p.any(null) },
    varKwargs: "kwargs",
    keywords: KEYWORDS,
    run: async ({ data, out, opts }, context, { kwargs }) =>
      finish(await show({ data, out, opts, keywords: kwargs }, context)),
  });
}

export const out_format: ModuleFunction<JobContext> = formatting(
  "out_format",
  "Return a value as an outputter shows it; with the option color in `opts` in colours.",
  (text) => text,
);

export const string_format: ModuleFunction<JobContext> = formatting(
  "string_format",
  "Return a value as an outputter shows it, without colours.",
  withoutColours,
);

export const html_format: ModuleFunction<JobContext> = formatting(
  "html_format",
  "Return a value as an outputter shows it, as HTML.",
  (text) => withoutColours(text).replace(/[&<> \n]/g, (one) => HTML[one]),
);
