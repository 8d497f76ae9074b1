/**
 * Lists the files of the tree with a given ending, with subfolders. An empty list is an error: a check of no files
 * would pass.
 * @module
 */

/** Names of folders without files of the project. Folders that begin with a dot are left out too. */
const FOREIGN: readonly string[] = ["node_modules", "dist", "results"];

/**
 * The paths of the files below the directory `root` whose names end with `ending`, relative to `root`, sorted.
 * @param options.below Only files in these folders of `root` and in their subfolders. Default: all folders.
 * @param options.without Folders of `root` that are left out, unless `below` names them.
 * @throws {Deno.errors.NotFound} If `root` or a folder of `below` holds no such file, or is not there.
 */
export function sourceFiles(
  root: string,
  ending: string,
  { below = [""], without = [] }: { readonly below?: readonly string[]; readonly without?: readonly string[] } = {},
): string[] {
  return [...new Set(below.flatMap((folder) => [...filesOf(root, folder, ending, without)]))].sort();
}

function filesOf(root: string, folder: string, ending: string, without: readonly string[]): string[] {
  const visit = (path: string): string[] =>
    [...Deno.readDirSync(`${root}/${path}`)].flatMap(({ name, isDirectory, isFile }) => {
      const own = path === "" ? name : `${path}/${name}`;
      if (isFile) return name.endsWith(ending) ? [own] : [];
      return !isDirectory || name.startsWith(".") || FOREIGN.includes(name) || without.includes(own) ? [] : visit(own);
    });
  const paths = visit(folder);
  if (paths.length === 0) throw new Deno.errors.NotFound(`There is no file *${ending} below ${root}/${folder}`);
  return paths;
}
