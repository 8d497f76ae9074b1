/**
 * The kind of object at a path: a file, a directory, or anything. The functions differ in whether they follow links,
 * and in their result if the system refuses; `statIfExists` of lib/os/atomic_file.ts gives more facts, and throws then.
 * @module
 */

/**
 * Whether there is a regular file at `path`, or at the target of a link there. `false` also if that cannot be checked.
 */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/**
 * Whether there is a regular file or a link at `path`, whatever its target is. `false` also if that cannot be checked.
 */
export function isFileOrLink(path: string): boolean {
  try {
    const { isFile, isSymlink } = Deno.lstatSync(path);
    return isFile || isSymlink;
  } catch {
    return false;
  }
}

/**
 * Whether there is a link at `path`, whatever its target is.
 * @throws What `Deno.lstatSync` throws if the system refuses.
 */
export function isLinkOrThrow(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

/** Whether there is a directory at `path`, or at the target of a link there. `false` also if that cannot be checked. */
export function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** The results of {@linkcode kindOf}. */
export type PathKind = "file" | "directory" | "other" | "nothing";

/**
 * The kind of object at `path`, or at the target of a link there, with one system call: "no such file" is the most
 * expensive result. `nothing` also if it cannot be checked.
 * @throws {Deno.errors.NotCapable} Without the permission to look.
 */
export function kindOf(path: string): PathKind {
  try {
    const { isFile, isDirectory } = Deno.statSync(path);
    return isFile ? "file" : isDirectory ? "directory" : "other";
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return "nothing";
  }
}

/**
 * Python's `os.path.lexists`: whether there is anything at `path`, including a dangling link. `false` also if that
 * cannot be checked.
 */
export function lexists(path: string): boolean {
  try {
    return lexistsOrThrow(path);
  } catch {
    return false;
  }
}

/**
 * Whether there is anything at `path`, also a dangling link.
 * @throws What `Deno.lstatSync` throws if the system refuses.
 */
export function lexistsOrThrow(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** What the system says of `path`, or of the target of a link there; `undefined` if it says nothing. */
export function statOrUndefined(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Python's `os.path.exists`: whether there is anything at `path`, or at the target of a link there. `false` also if
 * that cannot be checked.
 */
export function exists(path: string): boolean {
  return statOrUndefined(path) !== undefined;
}

/**
 * As {@linkcode exists}, for code that may run without the permission to look.
 * @throws {Deno.errors.NotCapable} Without it.
 */
export function existsOrThrow(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return false;
  }
}

/**
 * Whether there is anything at `path`, or where a link there leads. `true` if it is in a directory that this process
 * may not search.
 */
export function mayExist(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied;
  }
}
