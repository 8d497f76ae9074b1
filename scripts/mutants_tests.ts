/**
 * Which tests look at a file, nearest first: those that import it, and those that its area names.
 * @module
 */

import { AREAS } from "./mutants_areas.ts";
import { importsOf } from "./structure.ts";

/** The directories whose files import each other on the way from a test to what it tests. */
const DIRECTORIES = [
  "",
  "bench/",
  "chaos/",
  "fuzz/",
  "grains/",
  "lib/",
  "modules/",
  "runners/",
  "scripts/",
  "tests/",
] as const;
/** So many tests that import a file are run, if there are more. */
const NEAREST = 8;
/** A test that comes to a file by more imports than this is about something else. */
const FARTHEST = 2;

/** What is known of the tree. */
export class TestFinder {
  /** For each test file, how many imports each file is away. */
  readonly #distances = new Map<string, ReadonlyMap<string, number>>();

  /** Reads the imports of the tree at `root`. */
  constructor(root: string) {
    const imports = new Map(
      DIRECTORIES.flatMap((directory) => sources(root, directory)).map((path) => {
        const text = Deno.readTextFileSync(`${root}/${path}`).replace(/^import type [^;]*;$/gm, "");
        return [path, importsOf(path, text).map(({ from }) => from)];
      }),
    );
    for (const path of imports.keys()) {
      if (/^tests\/\w+_test\.ts$/.test(path)) this.#distances.set(path, distances(path, imports));
    }
  }

  /**
   * The tests that guard `file`: that of its name, then by their distance, and of equal ones that which imports least; at last
   * those of its area that look from outside.
   */
  testsOf(file: string): string[] {
    const own = file.replace(/^.*?(\w+)\.ts$/, "tests/$1_test.ts");
    const importing = [...this.#distances].flatMap(([path, from]) => {
      const distance = path === own ? 0 : from.get(file) ?? Infinity;
      return distance <= FARTHEST ? [{ path, distance, size: from.size }] : [];
    });
    const nearest = importing.sort((a, b) => a.distance - b.distance || a.size - b.size).slice(0, NEAREST);
    const outside = blackBoxTests(file).filter((path) => this.#distances.has(path));
    return [...new Set([...nearest.map(({ path }) => path), ...outside])];
  }
}

/** The tests of the area of `file` that look from outside; none for a file of no area. */
export function blackBoxTests(file: string): readonly string[] {
  return AREAS.find(({ files }) => files.includes(file))?.blackBox ?? [];
}

function sources(root: string, directory: string): string[] {
  try {
    return [...Deno.readDirSync(`${root}/${directory}`)].filter(({ name, isFile }) => isFile && name.endsWith(".ts"))
      .map(({ name }) => `${directory}${name}`).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []; // a small tree
    throw error;
  }
}

/** How many imports each file is away from `start`. */
function distances(start: string, imports: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const found = new Map([[start, 0]]);
  for (const path of found.keys()) { // which grows meanwhile
    for (const next of imports.get(path) ?? []) {
      if (!found.has(next)) found.set(next, (found.get(path) ?? 0) + 1);
    }
  }
  return found;
}
