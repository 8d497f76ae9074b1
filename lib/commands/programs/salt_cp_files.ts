/**
 * Lists the files that `salt-cp` sends: everything below the sources, with destinations. Sends nothing.
 * Source: Salt's `salt/cli/cp.py`.
 * @module
 */

import { withoutEndSlashes } from "#lib/values/python_text.ts";
import { baseName } from "#lib/os/paths.ts";
import { SourceError } from "#lib/errors.ts";
import { EX_INCOMPLETE } from "#lib/commands/cli/exit_codes.ts";

/** A file to send. */
export interface SourceFile {
  /** Its absolute path. */
  readonly path: string;
  /** Its path on the minions. */
  readonly dest: string;
  /** Its permission bits. */
  readonly mode: number;
}

/** Everything to send. */
export interface SourceTree {
  readonly files: readonly SourceFile[];
  /** Empty directories, with their paths on the minions. */
  readonly emptyDirectories: readonly string[];
}

/** A path below a source. */
interface Found {
  readonly path: string;
  /** The source, and the path below it; empty for the source itself. */
  readonly source: string;
  readonly below: string;
  /** `undefined` for an empty directory. */
  readonly mode: number | undefined;
}

/**
 * Everything below `sources`, for the destination `dest`.
 * @throws {SourceError} If a source does not exist, or is neither file nor directory.
 */
export function listSources(sources: readonly string[], dest: string): SourceTree {
  const files = sources.map(realPath).flatMap((source) => walk(source, { source, below: "", within: [] }));
  const intoDirectory = files.length > 1 || files.some(({ mode }) => mode === undefined) || dest.endsWith("/");
  const place = ({ source, below }: Found) => {
    const name = baseName(source);
    if (below === "") return intoDirectory ? join(dest, name) : dest;
    return join(dest, name, below);
  };
  return {
    files: files.flatMap((one) => one.mode === undefined ? [] : [{ path: one.path, dest: place(one), mode: one.mode }]),
    emptyDirectories: files.filter(({ mode }) => mode === undefined).map(place).sort(),
  };
}

/**
 * Lists the file or directory at `path`.
 * @param at.within The real directories above it, so that links cannot form an endless loop.
 */
function walk(
  path: string,
  at: { readonly source: string; readonly below: string; readonly within: readonly string[] },
): Found[] {
  const { isFile, isDirectory, mode } = Deno.statSync(path);
  const { source, below } = at;
  if (isFile) return [{ path, source, below, mode: (mode ?? 0o644) & 0o7777 }];
  if (!isDirectory) throw new SourceError(`${path} is neither a file nor a directory`, EX_INCOMPLETE);
  const real = Deno.realPathSync(path);
  if (at.within.includes(real)) throw new SourceError(`${path} is a link to a directory that it is in`, EX_INCOMPLETE);
  const names = [...Deno.readDirSync(path)].map(({ name }) => name).sort();
  if (names.length === 0) return [{ path, source, below, mode: undefined }];
  const within = [...at.within, real];
  return names.flatMap((name) =>
    walk(`${path}/${name}`, { source, below: below === "" ? name : `${below}/${name}`, within })
  );
}

/**
 * The contents of the files at `sources`, by absolute path, for one message.
 * @throws {SourceError} If one does not exist, is a directory, or is not text.
 */
export function readTextFiles(sources: readonly string[]): Map<string, string> {
  return new Map(
    sources.map(realPath).map((path) => {
      if (Deno.statSync(path).isDirectory) {
        throw new SourceError(
          `${path} is a directory, only files are supported in non-chunked mode. Use "--chunked" command line argument.`,
          1,
        );
      }
      try {
        return [path, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Deno.readFileSync(path))];
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        throw new SourceError(`${path} is no text. Use "--chunked" command line argument.`, 1);
      }
    }),
  );
}

/** The pieces of an open file, of `size` bytes; one empty piece for an empty file. Closes the file. */
export async function* readPieces(opened: Deno.FsFile, size: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  using file = opened;
  for (let first = true;; first = false) {
    const piece = new Uint8Array(size);
    let length = 0;
    while (length < size) {
      const read = await file.read(piece.subarray(length));
      if (read === null) break;
      length += read;
    }
    if (length === 0 && !first) return;
    yield piece.subarray(0, length);
    if (length < size) return;
  }
}

function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new SourceError(`${path} does not exist`, EX_INCOMPLETE);
    throw error;
  }
}

function join(...parts: readonly string[]): string {
  return parts.map((part, i) => i < parts.length - 1 ? withoutEndSlashes(part) : part).join("/").replace(
    /^\/\//,
    "/",
  );
}
