/**
 * Execution module `sys`: what functions this minion has, their documentation and their arguments. Those that tell of
 * other families than execution modules are in `families.ts`. Source: the functions of Salt 3008.3
 * `salt/modules/sysmod.py` that tell of execution modules.
 * @module
 */

import { argspecsOf, functionsOf, modulesOf } from "./selecting.ts";
import { collectDocs, describe } from "#lib/plugins/docs.ts";
import { invoke } from "#lib/plugins/call.ts";
import { fn, type JobContext, OWN_PROBLEMS } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { SEARCH_PATH } from "#lib/plugins/permissions.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { str, type Value } from "#lib/values/value.ts";

export const doc: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the documentation of all functions, or of the named ones: modules, functions or globs.",
    "sys.doc",
    "sys.doc sys",
    "sys.doc sys.doc",
    "sys.doc grains.get test.ping",
    "sys.doc 'sys.list_*'",
  ),
  permissions: SEARCH_PATH,
  params: {},
  varArgs: "args",
  run: async (_bound, { catalogue }, rest) => collectDocs(await catalogue.all(), rest.args.map(str)),
});

export const list_functions: ModuleFunction<JobContext> = fn({
  doc: describe(
    "List all functions, or those of the modules and globs named.",
    "sys.list_functions",
    "sys.list_functions sys grains",
    "sys.list_functions 'sys.list_*'",
  ),
  permissions: SEARCH_PATH,
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: async (_bound, context, rest) => functionsOf(await functionNames(context), rest.args.map(str)),
});

export const list_problems: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return why plugins of this minion do not load, by their family and name: the file, the line, and the error; or what\n" +
      "`__virtual__` says. Not in Salt.",
    "sys.list_problems",
  ),
  permissions: "all",
  params: {},
  run: async (_bound, context) => {
    const { catalogue } = context;
    const python = await catalogue.get(OWN_PROBLEMS);
    const call = { name: OWN_PROBLEMS, args: [], kwargs: new Map(), context };
    const own = python === undefined ? new Map<Value, Value>() : mapOrEmpty(await invoke(python, call));
    await Promise.all([catalogue.all(), catalogue.states.all()]);
    const others = (family: string, problems: ReadonlyMap<string, string>): [Value, Value][] =>
      [...problems].map(([name, why]) => [`${family}/${name}`, why]);
    return new Map<Value, Value>([
      ...others("modules", catalogue.problems()),
      ...others("states", catalogue.states.problems()),
      ...own,
    ]);
  },
});

export const list_modules: ModuleFunction<JobContext> = fn({
  doc: describe(
    "List the modules, or those that the names or globs match.",
    "sys.list_modules",
    "sys.list_modules 's*'",
  ),
  permissions: SEARCH_PATH,
  params: {},
  varArgs: "args",
  run: async (_bound, context, rest) => modulesOf(await functionNames(context), rest.args.map(str)),
});

export const argspec: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the arguments of functions: their names, the defaults of the last ones, and whether more are accepted.",
    "sys.argspec cmd.run",
    "sys.argspec sys",
    "sys.argspec 'test.arg*'",
  ),
  permissions: SEARCH_PATH,
  params: { module: p.str("") },
  run: async ({ module }, { catalogue }) => argspecsOf(await catalogue.all(), module),
});

export const reload_modules: ModuleFunction<JobContext> = fn({
  doc: describe("Let the minion load its modules again.", "sys.reload_modules"),
  params: {},
  run: (_bound, { outside }) => outside.refresh("modules"),
});

async function functionNames({ catalogue }: JobContext): Promise<string[]> {
  return (await catalogue.all()).map(({ name }) => name);
}
