/**
 * Finds the tests of a file, nearest first: the tests that import it, and the tests of its area.
 * @module
 */

import { AREAS, GUARDED_ROOMS } from "./areas.ts";
import { loadedFiles } from "#scripts/imports.ts";

/** Directories that contain no sources. */
const LEFT_OUT: readonly string[] = [".git", ".demo", "dist", "node_modules"];
/** The test files that `deno task test` runs. */
const TEST_FILE = /^tests\/(?!interop\/).*_test\.ts$/;
/** Maximum number of importing tests for a file. */
const NEAREST = 8;
/** A test that reaches a file only through more imports than this tests something else. */
const MAX_DISTANCE = 2;

/** Finds the tests of files, by the imports of a tree. */
export class TestFinder {
  /** For each test file, the number of imports to each file. */
  readonly #distances = new Map<string, ReadonlyMap<string, number>>();

  /** Reads the imports of the tree at `root`. */
  constructor(root: string) {
    const imports = new Map(
      [...sources(root)].map((path) => [path, loadedFiles(path, Deno.readTextFileSync(`${root}/${path}`))]),
    );
    for (const path of imports.keys()) if (TEST_FILE.test(path)) this.#distances.set(path, distances(path, imports));
  }

  /**
   * The tests of `file`: first the test with its name, then by distance; at equal distance, the test with fewer imports
   * first; then the other tests of its room, which may reach it by a process that they start; last the tests of
   * other rooms that reach its room, and the black-box tests of its area.
   */
  testsOf(file: string): string[] {
    const own = `/${file.replace(/^.*\/|\.ts$/g, "")}_test.ts`;
    const importing = [...this.#distances].flatMap(([path, from]) => {
      const distance = path.endsWith(own) ? 0 : from.get(file) ?? Infinity;
      return distance <= MAX_DISTANCE ? [{ path, distance, size: from.size }] : [];
    });
    const nearest = importing.sort((a, b) => a.distance - b.distance || a.size - b.size).slice(0, NEAREST);
    const room = roomOf(file);
    const beside = [...this.#distances].filter(([path]) => room !== undefined && path.startsWith(`tests/${room}/`))
      .map(([path, from]) => ({ path, distance: from.get(file) ?? Infinity }))
      .sort((a, b) => a.distance === b.distance ? 0 : a.distance - b.distance);
    const above = room === undefined ? [] : GUARDED_ROOMS[room] ?? [];
    const outside = [...above, ...blackBoxTests(file)].filter((path) => this.#distances.has(path));
    return [...new Set([...nearest, ...beside].map(({ path }) => path).concat(outside))];
  }
}

/** The room of a file: its directory below `lib`, such as `auth` or `host/network`. */
export function roomOf(file: string): string | undefined {
  return /^lib\/(.+)\/[^/]+$/.exec(file)?.[1];
}

/** The black-box tests of the area of `file`; none if the file is in no area. */
export function blackBoxTests(file: string): readonly string[] {
  return AREAS.find(({ files }) => files.includes(file))?.blackBox ?? [];
}

/** The sources below `root`, in no particular order. */
function* sources(root: string, directory = ""): Generator<string> {
  for (const { name, isDirectory, isFile } of Deno.readDirSync(`${root}/${directory}`)) {
    if (isFile && name.endsWith(".ts")) yield `${directory}${name}`;
    if (isDirectory && !LEFT_OUT.includes(name)) yield* sources(root, `${directory}${name}/`);
  }
}

/** The number of imports from `start` to each file. */
function distances(start: string, imports: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const distances = new Map([[start, 0]]);
  for (const path of distances.keys()) { // the loop appends to it
    for (const next of imports.get(path) ?? []) {
      if (!distances.has(next)) distances.set(next, (distances.get(path) ?? 0) + 1);
    }
  }
  return distances;
}
