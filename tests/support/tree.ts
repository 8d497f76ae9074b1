/**
 * Lists the files of a running service. A file that is removed during the listing is left out.
 * @module
 */

/** Every file below `directory`, without links and directories. */
export function* filesBelow(directory: string): Generator<string> {
  for (const { name, isDirectory, isFile } of ifThere(() => [...Deno.readDirSync(directory)]) ?? []) {
    if (isDirectory) yield* filesBelow(`${directory}/${name}`);
    else if (isFile) yield `${directory}/${name}`;
  }
}

/** The result of `look`; `undefined` if the file or process no longer exists. */
export function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    // ESRCH: the process of the /proc files has ended.
    const gone = error instanceof Deno.errors.NotFound || error instanceof Error && /os error 3\b/.test(error.message);
    if (gone) return undefined;
    throw error;
  }
}
