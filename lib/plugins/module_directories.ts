/**
 * The directories of the user's own modules.
 * Source: Salt 3008.3 `salt.loader._module_dirs`.
 * @module
 */

import { isDirectory } from "#lib/os/file_kind.ts";

/** Where the user's modules may be: the options `extension_modules` and `module_dirs`. */
export interface ModulePlaces {
  readonly extensionModules?: string;
  readonly moduleDirs?: readonly string[];
}

/**
 * The directories of the user's modules of a family, lowest precedence first. Below each of `module_dirs` it is
 * `modules`, and `_modules` if there is no `modules`.
 * @param family The name of its directories.
 */
export function moduleDirectories({ extensionModules, moduleDirs = [] }: ModulePlaces, family: string): string[] {
  const directories = moduleDirs.map((root) => {
    const plain = `${root}/${family}`;
    return isDirectory(plain) ? plain : `${root}/_${family}`;
  });
  return extensionModules === undefined ? directories : [`${extensionModules}/${family}`, ...directories];
}
