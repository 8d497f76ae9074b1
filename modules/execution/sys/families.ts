/**
 * The functions of the module `sys` about states, runners, returners and renderers. Those of runners ask `salt-run` of
 * this host, for the minion has none. Source: the functions of Salt 3008.3 `salt/modules/sysmod.py`,
 * `salt/utils/schema.py`.
 * @module
 */

import { argspecsOf, functionsOf, modulesOf } from "./selecting.ts";
import type { Argspec } from "#lib/plugins/call.ts";
import { asDocstring, collectDocs, describe, moduleOfFunction, selects } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { SEARCH_PATH } from "#lib/plugins/permissions.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { compareStrings, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { RENDERER_DOCS } from "#modules/renderers/_docs.ts";

/** Where a family's functions are from. */
interface Source {
  /** The names of all functions, sorted. */
  readonly names: (context: JobContext) => Promise<readonly string[]>;
  /** Their documentation, of those that the words choose. */
  readonly docs: (context: JobContext, wanted: readonly string[]) => Promise<ValueMap>;
  /** Their arguments, of those that the word chooses. */
  readonly argspecs: (context: JobContext, module: string) => Promise<Record<string, unknown>>;
}

const STATES: Source = {
  names: async ({ catalogue }) => (await catalogue.states.all()).map(({ name }) => name),
  docs: async ({ catalogue }, wanted) => {
    const docs = collectDocs(await catalogue.states.all(), wanted);
    const chosen = new Set([...docs.keys()].map((name) => moduleOfFunction(str(name))));
    const modules = [...await catalogue.states.moduleDocs?.() ?? []].filter(([name]) => chosen.has(name));
    return new Map([...modules, ...docs]);
  },
  argspecs: async ({ catalogue }, module) => argspecsOf(await catalogue.states.all(), module),
};

/** What a runner of this host's master gives. */
async function fromRunner(context: JobContext, name: string): Promise<ValueMap> {
  const docs = await context.call("saltutil.runner", [name]);
  return isMap(docs) ? docs : new Map();
}

/** The entries of a map by full names that words choose. */
function selectFunctions(all: ValueMap, wanted: readonly string[]): ValueMap {
  const tests = wanted.map(selects);
  return new Map([...all].filter(([name]) => tests.length === 0 || tests.some((test) => test(str(name)))));
}

const RUNNERS: Source = {
  names: async (context) => [...(await fromRunner(context, "doc.argspec")).keys()].map(str).sort(compareStrings),
  docs: async (context, wanted) => selectFunctions(await fromRunner(context, "doc.runner"), wanted),
  argspecs: async (context, module) =>
    Object.fromEntries(
      [...selectFunctions(await fromRunner(context, "doc.argspec"), module === "" ? [] : [module])].map((
        [name, spec],
      ) => [str(name), spec]),
    ),
};

const RETURNERS: Source = {
  names: async ({ catalogue }) => (await catalogue.returners?.all() ?? []).map(({ name }) => name),
  docs: async ({ catalogue }, wanted) => collectDocs(await catalogue.returners?.all() ?? [], wanted),
  argspecs: async ({ catalogue }, module) => argspecsOf(await catalogue.returners?.all() ?? [], module),
};

function listing(
  source: Source,
  { doc, examples, choose }: {
    readonly doc: string;
    readonly examples: readonly [string, ...string[]];
    readonly choose: (names: readonly string[], wanted: readonly string[]) => string[];
  },
  varKwargs?: string,
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(doc, ...examples),
    permissions: source === RUNNERS ? "all" : SEARCH_PATH,
    params: {},
    varArgs: "args",
    ...varKwargs !== undefined && { varKwargs },
    run: async (_bound, context, { args }) => choose(await source.names(context), args.map(str)),
  });
}

function modules(source: Source, name: string, what: string): ModuleFunction<JobContext> {
  const doc = `List the modules of ${what}, or those that the names or globs match.`;
  return listing(source, { doc, examples: [`sys.${name}`, `sys.${name} 's*'`], choose: modulesOf });
}

function functions(source: Source, name: string, what: string): ModuleFunction<JobContext> {
  const doc = `List the functions of ${what}, all or those of the modules and globs named.`;
  return listing(source, { doc, examples: [`sys.${name}`, `sys.${name} '*.s*'`], choose: functionsOf }, "kwargs");
}

function documentation(source: Source, name: string, what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Return the documentation of ${what}, of all functions or of those named: modules, functions or globs.`,
      `sys.${name}`,
    ),
    permissions: source === RUNNERS ? "all" : SEARCH_PATH,
    params: {},
    varArgs: "args",
    run: (_bound, context, { args }) => source.docs(context, args.map(str)),
  });
}

function specs(source: Source, name: string, what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return the arguments of functions of ${what}, as sys.argspec does.`, `sys.${name}`),
    permissions: source === RUNNERS ? "all" : SEARCH_PATH,
    params: { module: p.str("") },
    run: ({ module }, context) => source.argspecs(context, module),
  });
}

export const list_state_modules: ModuleFunction<JobContext> = modules(STATES, "list_state_modules", "states");
export const list_state_functions: ModuleFunction<JobContext> = functions(STATES, "list_state_functions", "states");
export const state_doc: ModuleFunction<JobContext> = documentation(STATES, "state_doc", "states");
export const state_argspec: ModuleFunction<JobContext> = specs(STATES, "state_argspec", "states");

export const list_runners: ModuleFunction<JobContext> = modules(RUNNERS, "list_runners", "runners");
export const list_runner_functions: ModuleFunction<JobContext> = functions(RUNNERS, "list_runner_functions", "runners");
export const runner_doc: ModuleFunction<JobContext> = documentation(RUNNERS, "runner_doc", "runners");
export const runner_argspec: ModuleFunction<JobContext> = specs(RUNNERS, "runner_argspec", "runners");

export const list_returners: ModuleFunction<JobContext> = modules(RETURNERS, "list_returners", "returners");
export const list_returner_functions: ModuleFunction<JobContext> = functions(
  RETURNERS,
  "list_returner_functions",
  "returners",
);
export const returner_doc: ModuleFunction<JobContext> = documentation(RETURNERS, "returner_doc", "returners");
export const returner_argspec: ModuleFunction<JobContext> = specs(RETURNERS, "returner_argspec", "returners");

/** The names of renderers that globs match, sorted; all without globs. */
function rendererNames(globs: readonly string[]): string[] {
  const tests = globs.map((glob) => compileGlob(glob));
  return Object.keys(RENDERER_DOCS).filter((name) => tests.length === 0 || tests.some((test) => test(name)))
    .sort(compareStrings);
}

export const list_renderers: ModuleFunction<JobContext> = fn({
  doc: describe(
    "List the renderers, or those that the globs match.",
    "sys.list_renderers",
    "sys.list_renderers 'yaml*'",
  ),
  params: {},
  varArgs: "args",
  run: (_bound, _context, { args }) => rendererNames(args.map(str)),
});

export const renderer_doc: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the documentation of renderers, of all or of those that names or globs match.",
    "sys.renderer_doc",
    "sys.renderer_doc 'j*'",
  ),
  params: {},
  varArgs: "args",
  run: (_bound, _context, { args }) =>
    Object.fromEntries(rendererNames(args.map(str)).map((name) => [name, asDocstring(RENDERER_DOCS[name])])),
});

/** A parameter may have any of these types in a schema. */
const SCHEMA_TYPES = ["boolean", "integer", "number", "string"];

/** The JSON schema of a function's arguments. */
function schemaOf(name: string, { args, defaults }: Argspec): Value {
  const names = args ?? [];
  const required = names.length - (defaults?.length ?? 0);
  const properties = names.map((title, i): [Value, Value] => {
    const usual = i < required ? null : defaults?.[i - required] ?? null;
    const more = usual === null ? {} : { default: usual };
    return [title, map({ oneOf: SCHEMA_TYPES.map((type) => ({ type, title, description: title, ...more })) })];
  });
  return map({
    $schema: "http://json-schema.org/draft-04/schema#",
    title: name,
    description: name,
    type: "object",
    ...properties.length > 0 && { properties: new Map(properties), "x-ordering": names },
    additionalProperties: false,
  });
}

export const state_schema: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a JSON schema for the arguments of state functions: of a module, a function or a glob.",
    "sys.state_schema",
    "sys.state_schema pkg.installed",
  ),
  permissions: SEARCH_PATH,
  params: { module: p.str("") },
  run: async ({ module }, { catalogue }) =>
    Object.entries(argspecsOf(await catalogue.states.all(), module)).map(([name, spec]) => schemaOf(name, spec)),
});
