/**
 * Functions and modules of a family, chosen as the functions of `sys` choose them.
 * Source: Salt 3008.3, `salt/modules/sysmod.py`.
 * @module
 */

import { type Argspec, argspec, type FunctionSignature } from "#lib/plugins/call.ts";
import { moduleOfFunction, selects } from "#lib/plugins/docs.ts";
import { compileGlob } from "#lib/text/glob.ts";

function chooseNames(names: readonly string[], tests: readonly ((name: string) => boolean)[]): string[] {
  return names.filter((name) => tests.length === 0 || tests.some((test) => test(name)));
}

/** Of `names`, full names of functions, those of the modules and globs wanted; without any, all. */
export function functionsOf(names: readonly string[], wanted: readonly string[]): string[] {
  return chooseNames(
    names,
    wanted.map((one) => one.includes("*") || one.includes(".") ? compileGlob(one) : selects(one)),
  );
}

/**
 * The modules of `names`. A glob is held against the functions' full names, as Salt does: `s*` and `sys.*` both find
 * sys.
 */
export function modulesOf(names: readonly string[], wanted: readonly string[]): string[] {
  const tests = wanted.map((one) =>
    one.includes("*") ? compileGlob(one) : (name: string) => moduleOfFunction(name) === one
  );
  return [...new Set(chooseNames(names, tests).map(moduleOfFunction))];
}

/** The arguments of the functions that a module's name, a function's or a glob chooses; an empty string chooses all. */
export function argspecsOf(
  functions: readonly { readonly name: string; readonly fun: FunctionSignature }[],
  module: string,
): Record<string, Argspec> {
  const test = module.includes("*") ? compileGlob(module) : selects(module);
  return Object.fromEntries(functions.filter(({ name }) => test(name)).map(({ name, fun }) => [name, argspec(fun)]));
}
