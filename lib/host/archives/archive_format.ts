/**
 * The kind of an archive, by its file name.
 * Source: Salt 3008.3 `salt/utils/files.py` guess_archive_type.
 * @module
 */

/** The kinds of archives. */
export type ArchiveFormat = "tar" | "rar" | "zip";

const ENDINGS: readonly (readonly [format: ArchiveFormat, ending: RegExp])[] = [
  ["tar", /\.(?:tar|tar\.gz|tgz|tar\.bz2|tbz2|tbz|tar\.xz|txz|tar\.lzma|tlz)$/i],
  ["zip", /\.zip$/i],
  ["rar", /\.rar$/i],
];

/** The kind for the suffix of `name`; `undefined` if it is unknown. */
export function guessArchiveFormat(name: string): ArchiveFormat | undefined {
  return ENDINGS.find(([, ending]) => ending.test(name))?.[0];
}
