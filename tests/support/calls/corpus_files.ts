/**
 * Finds the recorded cases of one module in corpora that hold those of many.
 * @module
 */

import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

const CORPUS = new URL("../../corpus/", import.meta.url);

/** The file `name` of tests/corpus. */
export function corpusFile(name: string): URL {
  return new URL(name, CORPUS);
}

/** Whether there is a corpus of this name. */
export function isThere(file: URL): boolean {
  try {
    return Deno.statSync(file).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Whether a file of a corpus has cases of `module`. It is not parsed: some have thousands of other cases. */
export function hasCases(file: URL, module: string): boolean {
  return Deno.readTextFileSync(file).includes(`"fun": "${module}.`);
}

/** The files with cases of `module` in `folder`, a folder of tests/corpus, sorted by name. */
export function filesWithCases(folder: string, module: string): URL[] {
  const names = [...Deno.readDirSync(corpusFile(`${folder}/`))].map(({ name }) => name);
  const files = names.filter((name) => name.endsWith(".json")).sort().map((name) => corpusFile(`${folder}/${name}`));
  return files.filter((file) => hasCases(file, module));
}

/** The cases of `cases` whose function `fun` is one of `module`. */
export function casesOf(cases: readonly Value[], module: string): ValueMap[] {
  return cases.filter(isMap).filter((one) => str(one.get("fun") ?? "").startsWith(`${module}.`));
}
