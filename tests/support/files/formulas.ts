/**
 * The public formulas that the tests apply. They are not in this repository: `SALT_FORMULAS_ARCHIVE` names their
 * archive (`formulas.tar.xz`), or it is in a directory `shared` beside the working tree or one level above.
 * @module
 */

import { run } from "#tests/support/processes.ts";

const ROOT = decodeURIComponent(new URL("../../..", import.meta.url).pathname);

/** Directories of a formula without states. */
const NO_STATES = ["test", "dev", "docs", "bin"];

/** The path of the archive; `undefined` if it is missing. */
export function formulasArchive(): string | undefined {
  const places = [`${ROOT}../shared/formulas.tar.xz`, `${ROOT}../../shared/formulas.tar.xz`];
  return [Deno.env.get("SALT_FORMULAS_ARCHIVE") ?? "", ...places].find((path) => path !== "" && isFile(path));
}

export interface Formula {
  /** `docker-formula` */
  readonly name: string;
  /** Its directory, used as a file root. */
  readonly root: string;
  /** The names of its SLS files, sorted. */
  readonly sls: readonly string[];
  /** The text of each pillar example, by its path in the formula. */
  readonly pillars: ReadonlyMap<string, string>;
}

/**
 * Unpacks the archive into `directory`.
 * @returns The formulas, sorted by name.
 */
export async function unpackFormulas(archive: string, directory: string): Promise<Formula[]> {
  const { code, err } = await run(["tar", "-xJf", archive, "-C", directory]);
  if (code !== 0) throw new Error(`tar cannot unpack ${archive}:\n${err}`);
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort().map((name) => formulaIn(name, directory));
}

function formulaIn(name: string, directory: string): Formula {
  const root = `${directory}/${name}`;
  const files = [...filesOf(root)].sort();
  const isPillar = (path: string) => path === "pillar.example" || /^test\/salt\/pillar\/.*\.sls$/.test(path);
  const sls = files.filter((path) => path.endsWith(".sls") && path.includes("/") && !isAside(path));
  return {
    name,
    root,
    sls: sls.map((path) => path.replace(/(\/init)?\.sls$/, "").replaceAll("/", ".")).sort(),
    pillars: new Map(files.filter(isPillar).map((path) => [path, Deno.readTextFileSync(`${root}/${path}`)])),
  };
}

function isAside(path: string): boolean {
  return path.startsWith(".") || NO_STATES.includes(path.split("/", 1)[0]);
}

function* filesOf(root: string, below = ""): Generator<string> {
  for (const { name, isDirectory, isFile } of Deno.readDirSync(`${root}/${below}`)) {
    if (isDirectory) yield* filesOf(root, `${below}${name}/`);
    else if (isFile) yield `${below}${name}`;
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
