/**
 * Sends files of this host to the master, which keeps them below its minion's name.
 * Source: the functions and results of Salt 3008.3 `salt/modules/cp.py` push, push_dir.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { CommandError } from "#lib/errors.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { isFile, lexistsOrThrow } from "#lib/os/file_kind.ts";
import { realPath, walk } from "#lib/os/disk_paths.ts";
import { joinPath, normalPath } from "#lib/os/paths.ts";
import { type SendFileCommand, ServerCalls } from "./server_calls.ts";

/** The settings of {@linkcode pushFile}, and the functions that it calls. */
export interface PushHost {
  readonly id: string;
  /** Bytes of a piece: the option `file_buffer_size`. */
  readonly pieceBytes: number;
  readonly request: SendFileCommand;
  log(level: "error" | "debug", message: string): void;
}

/** How a file is pushed. */
export interface PushOptions {
  /** Whether the path of a link is used instead of its target's. */
  readonly keepSymlinks?: boolean;
  /** The path that it gets on the master. Default: its own. */
  readonly uploadPath?: string;
  /** Whether it is removed afterwards. */
  readonly removeSource?: boolean;
}

/** @throws {CommandError} If no file of that path is pushed. */
function checkPath(path: string): void {
  if (!path.startsWith("/")) throw new CommandError(`Path '${path}' is not absolute`);
  if (path.includes("../")) throw new CommandError(`A path that has ../ is not pushed: ${path}`);
}

/**
 * Pushes one file.
 * @returns Whether the master has taken it.
 * @throws {CommandError} If there is no such file here, or its path is not pushed.
 */
export async function pushFile(path: string, options: PushOptions, host: PushHost): Promise<boolean> {
  const { keepSymlinks, uploadPath, removeSource } = options;
  host.log("debug", `Trying to copy '${path}' to master`);
  checkPath(path);
  if (uploadPath?.includes("../")) throw new CommandError(`A path that has ../ is not pushed: ${uploadPath}`);
  const source = keepSymlinks ? path : realPath(path);
  if (!isFile(source)) {
    throw new CommandError(
      `Cannot push ${path}${lexistsOrThrow(source) ? " is not a file" : ": there is no such file"}`,
    );
  }
  const name = normalPath((uploadPath || source).replace(/^\/+/, ""));
  const calls = new ServerCalls(host.request);
  using file = await Deno.open(source);
  const { size } = await file.stat();
  const load = { id: host.id, path: name.split("/").filter((part) => part !== ""), size };
  const block = new Uint8Array(host.pieceBytes);
  for (let loc = 0, first = true;; first = false) {
    const length = await file.read(block) ?? 0;
    if (length === 0 && !first) break;
    if (!await calls.push({ ...load, loc, data: block.slice(0, length) })) {
      host.log(
        "error",
        "cp.push Failed transfer failed. Ensure master has 'file_recv' set to 'True' and that the file is not larger than the " +
          "'file_recv_max_size' setting on the master.",
      );
      return false;
    }
    loc += length;
  }
  if (removeSource) await Deno.remove(source);
  return true;
}

/**
 * Pushes all files below a directory, or one file.
 * @param options.glob Only files whose names match.
 * @returns Whether the master has all of them, and there was one.
 * @throws {CommandError} If there is no such directory here, or its path is not pushed.
 */
export async function pushDirectory(
  path: string,
  { glob, uploadPath }: { readonly glob?: string; readonly uploadPath?: string },
  host: PushHost,
): Promise<boolean> {
  checkPath(path);
  const top = realPath(path);
  if (isFile(top)) return await pushFile(top, { uploadPath }, host);
  if (!lexistsOrThrow(top)) throw new CommandError(`Cannot push ${path}: there is no such file`);
  const wanted = glob === undefined ? () => true : compileGlob(glob);
  const files = [...walk(top)].flatMap(({ path: directory, files }) =>
    files.filter(wanted).map((name) => joinPath(directory, name))
  );
  for (const file of files) {
    const to = uploadPath ? `/${stripChars(uploadPath, "/")}/${file.slice(top.length + 1)}` : undefined;
    if (!await pushFile(file, { uploadPath: to }, host)) return false;
  }
  return files.length > 0;
}
