/**
 * Execution module `sys`: what functions this minion has, their documentation and their arguments.
 * Source: the functions of Salt 3008.3 `salt/modules/sysmod.py` that tell of execution modules.
 * @module
 */

import { argspec as signatureOf } from "../../lib/plugins/call.ts";
import { collectDocs, describe, selects } from "../../lib/plugins/docs.ts";
import { compileGlob } from "../../lib/text/glob.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { type ModuleFunction, str } from "../../lib/plugins/module.ts";
import { SEARCH_PATH } from "../../lib/plugins/permissions.ts";
import { str as text } from "../../lib/values/value.ts";

export const doc: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the documentation of all functions, or of those named: modules, functions or globs.",
    "sys.doc",
    "sys.doc sys",
    "sys.doc sys.doc",
    "sys.doc grains.get test.ping",
    "sys.doc 'sys.list_*'",
  ),
  permissions: SEARCH_PATH,
  params: {},
  varArgs: "args",
  run: async (_bound, { catalogue }, rest) => collectDocs(await catalogue.all(), rest.args.map(text)),
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
  run: async (_bound, context, rest) => matching(await functionNames(context), rest.args.map(text)),
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
  run: async (_bound, context, rest) => {
    const names = await functionNames(context);
    // A glob is held against the functions' full names, as Salt does: 's*' and 'sys.*' both find sys.
    const tests = rest.args.map(text).map((wanted) =>
      wanted.includes("*") ? compileGlob(wanted) : (name: string) => moduleOf(name) === wanted
    );
    return [...new Set(names.filter((name) => tests.length === 0 || tests.some((test) => test(name))).map(moduleOf))];
  },
});

export const argspec: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the arguments of functions: their names, the defaults of the last of them, and whether more are taken.",
    "sys.argspec cmd.run",
    "sys.argspec sys",
    "sys.argspec 'test.arg*'",
  ),
  permissions: SEARCH_PATH,
  params: { module: str("") },
  run: async ({ module }, { catalogue }) => {
    const chosen = module.includes("*") ? compileGlob(module) : selects(module);
    const functions = (await catalogue.all()).filter(({ name }) => chosen(name));
    return Object.fromEntries(functions.map(({ name, fun }) => [name, signatureOf(fun)]));
  },
});

export const reload_modules: ModuleFunction<JobContext> = fn({
  doc: describe("Have the minion look at its modules again.", "sys.reload_modules"),
  params: {},
  run: (_bound, { outside }) => outside.refresh("modules"),
});

function moduleOf(name: string): string {
  return name.split(".", 1)[0];
}

async function functionNames({ catalogue }: JobContext): Promise<string[]> {
  return (await catalogue.all()).map(({ name }) => name);
}

function matching(names: readonly string[], wanted: readonly string[]): string[] {
  const tests = wanted.map((one) => one.includes("*") || one.includes(".") ? compileGlob(one) : selects(one));
  return names.filter((name) => tests.length === 0 || tests.some((test) => test(name)));
}
