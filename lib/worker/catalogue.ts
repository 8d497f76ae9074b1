/**
 * The execution modules of a minion: the built-in ones, and the user's own in its directories.
 * @module
 */

import type { Catalogue, JobContext } from "../plugins/job_context.ts";
import { EXECUTION_MODULES } from "../../modules/execution/_built_in.ts";
import { loadFamily } from "../plugins/loader.ts";

/** Which execution modules there are: the minion's options of these names, and who hears of broken modules. */
export interface CatalogueOptions {
  /** `extension_modules`; the user's modules are in `modules` below it. */
  readonly extensionModules?: string;
  /** `module_dirs`; more such directories, which count less. */
  readonly moduleDirs?: readonly string[];
  readonly disableModules?: readonly string[];
  readonly whitelistModules?: readonly string[];
  /** Hears, once for each broken module, which file and why. */
  readonly warn?: (message: string) => void;
  /** If set, the only ones of the user's that are among them. */
  readonly custom?: readonly string[];
  /** Whether the built-in ones are among them. Default: yes. */
  readonly builtin?: boolean;
}

/** The directories of the user's execution modules, those that count less first. */
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
