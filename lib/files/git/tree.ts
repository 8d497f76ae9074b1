/**
 * The files of one commit: names, kinds and objects, as `git ls-tree` lists them, and what links in it lead to.
 * @module
 */

/** A file in a commit. */
export interface TreeFile {
  /** The name of its object. */
  readonly oid: string;
  /** Python's `st_mode`: 0o100644, 0o100755, 0o120000. */
  readonly mode: number;
}

/** All of a commit. Paths are relative to its top. */
export interface Tree {
  readonly files: ReadonlyMap<string, TreeFile>;
  readonly dirs: readonly string[];
  /** The text of each link. */
  readonly links: ReadonlyMap<string, string>;
}

/** Such a file holds the text of a link. */
export const LINK_MODE = 0o120000;

/** Maximum number of links on the way to a file, as in Salt. */
const MAX_LINKS = 100;

/** The entries of `git ls-tree -r -t -z`: mode, kind, object, and a tab before the path. Submodules are left out. */
export function parseTree(output: string): Omit<Tree, "links"> {
  const files = new Map<string, TreeFile>();
  const dirs: string[] = [];
  for (const entry of output.split("\0")) {
    const tab = entry.indexOf("\t");
    const [mode, kind, oid] = entry.slice(0, Math.max(tab, 0)).split(" ");
    const path = entry.slice(tab + 1);
    if (kind === "tree") dirs.push(path);
    else if (kind === "blob") files.set(path, { oid, mode: parseInt(mode, 8) });
  }
  return { files, dirs };
}

/**
 * The texts of the objects that `git cat-file --batch` wrote, by their names: a line `name kind size`, and that many
 * bytes. Of an object that is not there it writes `name missing`.
 */
export function parseBatch(output: Uint8Array): Map<string, string> {
  const texts = new Map<string, string>();
  const decoder = new TextDecoder();
  let at = 0;
  for (let end = output.indexOf(0x0a); end >= 0; end = output.indexOf(0x0a, at)) {
    const [oid, , size] = decoder.decode(output.subarray(at, end)).split(" ");
    at = end + 1;
    if (size === undefined) continue;
    texts.set(oid, decoder.decode(output.subarray(at, at + Number(size))));
    at += Number(size) + 1;
  }
  return texts;
}

/** The file at `path`, or where links lead from there within the commit; `undefined` if there is none. */
export function fileAt({ files, links }: Tree, path: string): TreeFile | undefined {
  let at: string | undefined = path;
  for (let i = 0; at !== undefined && i <= MAX_LINKS; i++) {
    const file = files.get(at);
    if (file === undefined || file.mode !== LINK_MODE) return file;
    at = linkedPath(at, links.get(at) ?? "");
  }
  return undefined;
}

/** Where a link leads; `undefined` if out of the commit. */
function linkedPath(link: string, text: string): string | undefined {
  if (text.startsWith("/")) return undefined;
  const steps = link.split("/").slice(0, -1);
  for (const step of text.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.pop() === undefined) return undefined;
  }
  return steps.join("/");
}
