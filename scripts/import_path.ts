/**
 * Resolves the specifiers of imports inside the tree.
 * @module
 */

/** The prefix of imports from another folder of the tree, `#lib/os/users.ts`; the import map of deno.json has it. */
export const TREE_PREFIX = "#";

/** The path, from the root of the tree, of the file that `specifier` in the file `path` refers to. */
export function importPath(path: string, specifier: string): string {
  if (specifier.startsWith(TREE_PREFIX)) return specifier.slice(TREE_PREFIX.length);
  return new URL(specifier, `file:///${path}`).pathname.slice(1);
}
