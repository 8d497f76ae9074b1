/**
 * Reads which files of the tree a file loads, and which it starts or reads by their names.
 * @module
 */

import { importPath } from "./import_path.ts";

/** The programs at the root of the tree. */
const ENTRY = "(?:master|minion|salt)\\.ts";
/** A text that is the name of an entry, or the path of a script or helper; the tree's root may be in front of it. */
const NAMED = new RegExp(`["'\`](?:\\$\\{\\w+\\}/?)?(${ENTRY}|(?:scripts|tests)/[\\w/.-]+\\.ts)["'\`]`, "g");

/** The files of the tree that the file `path` loads, without those from which it imports only types. */
export function loadedFiles(path: string, text: string): string[] {
  const statements = /^(?:import|export) (?!type )[^;]*?from "([.#][^"]+\.ts)";/gm;
  const effects = /^import "([.#][^"]+\.ts)";/gm;
  const later = /import\("([.#][^"]+\.ts)"\)/g;
  return [statements, effects, later].flatMap((form) =>
    [...text.matchAll(form)].map(([, specifier]) => importPath(path, specifier))
  );
}

/**
 * The files that the file `path` starts as threads or programs, or reads as data: `new URL("./thread.ts",
 * import.meta.url)`, an entry's name, a script's path. A name that ends with `/` stands for the files in
 * it: a folder, or the folder of a name that is computed.
 */
export function namedFiles(path: string, text: string): string[] {
  const places = text.matchAll(/new URL\(["`]([^"`]+)["`], import\.meta\.url\)/g);
  const near = [...places].map(([, name]) => importPath(path, name.replace(/[^/]*\$\{.*/, "")));
  const named = /^(tests|scripts)\//.test(path) ? [...text.matchAll(NAMED)].map(([, name]) => name) : [];
  const data = [...text.matchAll(/^import \w+ from "([.#][^"]+)" with /gm)].map(([, name]) => importPath(path, name));
  return [...near, ...named, ...data];
}
