/**
 * The files and directories that match a pattern with `*`, `?` and `[…]`, as Python's `glob.glob` finds them.
 * Source: docs.python.org, "glob".
 * @module
 */

import { lexists } from "./file_kind.ts";
import { compileGlob, isGlob } from "#lib/text/glob.ts";

/**
 * The existing paths that match the absolute `pattern`, sorted by code unit. A path without special characters gives
 * itself, if it exists. Names that start with a dot match only a pattern that does.
 */
export function globPaths(pattern: string): string[] {
  let paths = ["/"];
  const parts = pattern.split("/").filter((part) => part !== "");
  for (const [i, part] of parts.entries()) {
    const isLast = i === parts.length - 1;
    paths = paths.flatMap((directory) => matches(directory, part, isLast));
  }
  return paths.sort();
}

function matches(directory: string, part: string, isLast: boolean): string[] {
  const join = (name: string) => directory === "/" ? `/${name}` : `${directory}/${name}`;
  if (!isGlob(part)) return !isLast || lexists(join(part)) ? [join(part)] : [];
  const test = compileGlob(part);
  return namesIn(directory).filter((name) => (part.startsWith(".") || !name.startsWith(".")) && test(name)).map(join);
}

/** The names in a directory; none if it is not a directory or cannot be read. */
function namesIn(directory: string): string[] {
  try {
    return Array.from(Deno.readDirSync(directory), (entry) => entry.name);
  } catch {
    return [];
  }
}
