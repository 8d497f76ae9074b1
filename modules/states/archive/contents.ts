/**
 * The contents of an archive, and the differences of the directory from them. Source: Salt 3008.3
 * `salt/states/archive.py` extracted.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { Refused } from "#modules/states/_refused.ts";
import { normalPath } from "#lib/os/paths.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

/** `archive.list` with `verbose`: names relative to the directory, those of directories with a slash at their ends. */
export interface ArchiveContents {
  readonly dirs: readonly string[];
  readonly files: readonly string[];
  readonly links: readonly string[];
  readonly top_level_dirs: readonly string[];
  readonly top_level_files: readonly string[];
  readonly top_level_links: readonly string[];
}

/** What `archive.list` returned, as {@linkcode ArchiveContents}. */
export function parseArchiveContents(listed: Value): ArchiveContents {
  const names = (kind: string): string[] => {
    return listOrEmpty(isMap(listed) ? listed.get(kind) : undefined).map(str);
  };
  return {
    dirs: names("dirs"),
    files: names("files"),
    links: names("links"),
    top_level_dirs: names("top_level_dirs"),
    top_level_files: names("top_level_files"),
    top_level_links: names("top_level_links"),
  };
}

/**
 * The place of a member below `directory`, which ends in a slash.
 * @throws {Refused} If the name leads elsewhere: Salt removes and writes what is there.
 */
export function findMemberPlace(member: string, directory: string): string {
  const path = `${directory}${member}`;
  if (!member.startsWith("/") && `${normalPath(path)}/`.startsWith(directory)) return path;
  throw new Refused(`The archive has a member that leads out of ${directory}: ${member}`);
}

/** How a directory differs from an archive. */
export interface Difference {
  /** Whether something of the archive is not there. */
  readonly missing: boolean;
  /** Names of the archive with something else at their places: a file instead of a directory, …. */
  readonly incorrect: readonly string[];
}

const KINDS: readonly (readonly [kind: "dirs" | "files" | "links", is: (info: Deno.FileInfo) => boolean])[] = [
  ["dirs", (info) => info.isDirectory],
  ["files", (info) => !info.isSymlink && !info.isDirectory],
  ["links", (info) => info.isSymlink],
];

/**
 * Compares the directory with the archive, by names and kinds alone.
 * @throws {Refused} If it cannot be looked at.
 */
export function compareContents(contents: ArchiveContents, directory: string): Difference {
  let missing = false;
  const incorrect: string[] = [];
  for (const [kind, is] of KINDS) {
    for (const name of contents[kind]) {
      const path = rstripChars(findMemberPlace(name, directory), "/");
      try {
        if (!is(Deno.lstatSync(path))) incorrect.push(name);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) missing = true;
        // Below a file that is where a directory should be.
        else if (!(error instanceof Deno.errors.NotADirectory)) throw new Refused(pythonOsError(error, path));
      }
    }
  }
  return { missing, incorrect };
}

/** A list in a comment, after an empty line. */
export function bullets(items: readonly string[]): string {
  return items.map((item) => `\n- ${item}`).join("");
}
