/**
 * The files of a service that runs: one that goes while they are looked at was never there.
 * @module
 */

/** Every file below `directory`, links and directories not among them. */
export function* filesBelow(directory: string): Generator<string> {
  for (const { name, isDirectory, isFile } of ifThere(() => [...Deno.readDirSync(directory)]) ?? []) {
    if (isDirectory) yield* filesBelow(`${directory}/${name}`);
    else if (isFile) yield `${directory}/${name}`;
  }
}

/** What `look` gives; `undefined` if what it looks at is gone, be it a file or a process. */
export function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    // ESRCH: the files of a process that ends meanwhile.
    const gone = error instanceof Deno.errors.NotFound || error instanceof Error && /os error 3\b/.test(error.message);
    if (gone) return undefined;
    throw error;
  }
}
