/**
 * Loads a minion's execution modules: the built-in ones and the user's own in its directories.
 * @module
 */

import type { Catalogue, JobContext } from "../plugins/job_context.ts";
import { EXECUTION_MODULES } from "../../modules/execution/_built_in.ts";
import { loadFamily } from "../plugins/loader.ts";

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
  /** Whether built-in modules are loaded. Default: yes. */
  readonly builtin?: boolean;
}

/** The directories of the user's execution modules, lowest precedence first. */
export function moduleDirectories({ extensionModules, moduleDirs = [] }: CatalogueOptions): string[] {
  const roots = extensionModules === undefined ? moduleDirs : [...moduleDirs, extensionModules];
  return roots.map((root) => `${root}/modules`);
}

/** The execution modules of a minion. */
export function loadCatalogue(options: CatalogueOptions = {}): Catalogue {
  return loadFamily<JobContext>(options.builtin === false ? {} : EXECUTION_MODULES, {
    directories: moduleDirectories(options),
    disabled: options.disableModules,
    only: options.whitelistModules,
    userOnly: options.custom,
    warn: options.warn,
  });
}
