/**
 * Loads a minion's execution modules: the built-in ones and the user's own in its directories.
 * @module
 */

import type { Catalogue, JobContext, StateContext } from "../plugins/job_context.ts";
import { EXECUTION_MODULES, VIRTUAL_NAMES } from "../../modules/execution/_built_in.ts";
import { STATE_MODULES } from "../../modules/states/_built_in.ts";
import { loadFamily } from "../plugins/loader.ts";
import { str, type ValueMap } from "../values/value.ts";
import { which } from "../host/which.ts";

/** Options of {@linkcode loadCatalogue}: the minion's options of these names, and a callback. */
export interface CatalogueOptions {
  /** `extension_modules`; the user's modules are in its directory `modules`. */
  readonly extensionModules?: string;
  /** `module_dirs`; more such directories, with lower precedence. */
  readonly moduleDirs?: readonly string[];
  readonly disableModules?: readonly string[];
  readonly whitelistModules?: readonly string[];
  /** Called once for each broken module, with the file and the reason. */
  readonly warn?: (message: string) => void;
  /** If set, only these user's modules are loaded. */
  readonly custom?: readonly string[];
  /** The names of user's modules whose files are called otherwise, by the file's name. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Whether built-in modules are loaded. Default: yes. */
  readonly builtin?: boolean;
  /** The minion's grains. Without them every module serves. */
  readonly grains?: () => ValueMap;
  /** The modules to use for virtual names, by name. */
  readonly providers?: ValueMap;
}

/** The directories of the user's execution modules, lowest precedence first. */
export function moduleDirectories({ extensionModules, moduleDirs = [] }: CatalogueOptions): string[] {
  const roots = extensionModules === undefined ? moduleDirs : [...moduleDirs, extensionModules];
  return roots.map((root) => `${root}/modules`);
}

/** The execution modules of a minion, and its state modules. */
export function loadCatalogue(options: CatalogueOptions = {}): Catalogue {
  const host = options.grains && { grains: options.grains, hasProgram };
  const execution = loadFamily<JobContext>(options.builtin === false ? {} : EXECUTION_MODULES, {
    directories: moduleDirectories(options),
    disabled: options.disableModules,
    only: options.whitelistModules,
    userOnly: options.custom,
    renamed: options.renamed,
    virtualNames: options.builtin === false ? {} : VIRTUAL_NAMES,
    host,
    chosen: new Map([...options.providers ?? []].map(([name, file]) => [str(name), str(file)])),
    warn: options.warn,
  });
  const states = loadFamily<StateContext>(STATE_MODULES, {
    host,
    hasFunction: async (name) => await execution.get(name) !== undefined,
    warn: options.warn,
  });
  return { ...execution, states };
}

/** Whether a program is in PATH; `undefined` in a thread that may not look. */
export function hasProgram(name: string): boolean | undefined {
  try {
    return which(name) !== undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}
