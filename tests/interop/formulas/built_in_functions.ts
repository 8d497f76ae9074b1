/**
 * The built-in functions that trees can name, by family.
 * @module
 */

import { ALIASES } from "#lib/plugins/aliases.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { EXECUTION_MODULES, VIRTUAL_NAMES } from "#modules/execution/_built_in.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { STATE_MODULES } from "#modules/states/_built_in.ts";

/** The families of such functions, by the names of Salt's directories, with the titles of their tables. */
export const TITLES = { states: "States", modules: "Execution functions", runners: "Runners" } as const;

/** A family of such functions. */
export type FunctionFamily = keyof typeof TITLES;

/** The names of all built-in functions, on any host. */
export async function builtInFunctions(): Promise<Readonly<Record<FunctionFamily, ReadonlySet<string>>>> {
  const virtualOf = new Map(
    Object.entries(VIRTUAL_NAMES).flatMap(([name, files]) => files.map((file) => [file, name] as const)),
  );
  const names = async (...given: Parameters<typeof loadFamily>) =>
    (await loadFamily<never>(...given).all()).map(({ name }) => name);
  const modules = (await names(EXECUTION_MODULES, { aliases: ALIASES.execution })).map((full) => {
    const [file, fun] = full.split(".", 2);
    return `${virtualOf.get(file) ?? file}.${fun}`;
  });
  return {
    states: new Set(await names(STATE_MODULES, { aliases: ALIASES.states })),
    modules: new Set(modules),
    runners: new Set(await names(RUNNERS)),
  };
}
