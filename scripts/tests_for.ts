/**
 * Finds the tests that reach a file: by imports, and by the threads, programs and data files that tests and their
 * helpers name.
 * @module
 */

import { loadedFiles, namedFiles } from "./imports.ts";
import { sourceFiles } from "./source_files.ts";

const TEST_SUFFIX = "_test.ts";

/** A test file that reaches a file. */
export interface ReachingTest {
  /** Its path from the root of the tree. */
  readonly path: string;
  /** The number of files from it to the file: 1 if it imports the file. */
  readonly distance: number;
}

/** The files of a tree, and which of them load, start or read others. */
export class ReachedFiles {
  readonly #root: string;
  /** The files that refer to a file, or to files directly in a folder, whose name ends with `/`. */
  readonly #users = new Map<string, string[]>();

  /** Reads the sources of the tree at `root`. */
  constructor(root: string) {
    this.#root = root;
    for (const path of sourceFiles(root, ".ts")) {
      const text = Deno.readTextFileSync(`${root}/${path}`);
      for (const used of [...loadedFiles(path, text), ...namedFiles(path, text)]) {
        if (used !== path) this.#users.set(used, [...this.#users.get(used) ?? [], path]);
      }
    }
  }

  /**
   * The test files that reach `file`, a path from the root of the tree: first those with its name, then those to which
   * the fewest files lead. A test file reaches itself.
   * @throws {Deno.errors.NotFound} If the file is not there, or if no test reaches it.
   */
  testsFor(file: string): ReachingTest[] {
    const { isFile } = Deno.statSync(`${this.#root}/${file}`);
    if (!isFile) throw new Deno.errors.NotFound(`${file} is not a file`);
    const distances = new Map([[file, 0]]);
    for (const [path, distance] of distances) { // the loop appends to it
      for (const user of this.#usersOf(path)) if (!distances.has(user)) distances.set(user, distance + 1);
    }
    const tests = [...distances].filter(([path]) => path.startsWith("tests/") && path.endsWith(TEST_SUFFIX))
      .map(([path, distance]) => ({ path, distance }));
    if (tests.length === 0) {
      throw new Deno.errors.NotFound(`No test loads, starts or reads ${file} (imports of types alone do not count)`);
    }
    const own = ownTests(file);
    const rank = ({ path }: ReachingTest) => own.test(path) ? 0 : 1;
    return tests.sort((a, b) => rank(a) - rank(b) || a.distance - b.distance || (a.path < b.path ? -1 : 1));
  }

  #usersOf(path: string): string[] {
    // Programs that list a whole wing, or the root, do not reach each of its files.
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const readers = folder.split("/").length > 2 ? this.#users.get(folder) ?? [] : [];
    return [...this.#users.get(path) ?? [], ...readers];
  }
}

/**
 * The test files with the name of `file`: `tests/keys/store_test.ts` for `lib/keys/store.ts`,
 * `tests/modules/states/file_test.ts` and `…/file_managed_test.ts` for each file of `modules/states/file/`.
 */
function ownTests(file: string): RegExp {
  const [, module] = /^(modules\/\w+\/\w+)\/\w+\.ts$/.exec(file) ?? [];
  const [room, name] = (module ?? file.replace(/\.ts$/, "")).split(/\/(?=[^/]*$)/);
  const subject = (name ?? "").replace(/^_/, "");
  return new RegExp(`^tests/${room.replace(/^lib\//, "")}/${subject}(_\\w+)?_test\\.ts$`);
}
