/**
 * Sends files of this host to the master, which keeps them below its minion's name.
 * Source: the functions and results of Salt 3008.3 `salt/modules/cp.py` push, push_dir.
 * @module
 */

import { compileGlob } from "../text/glob.ts";
import { isFile } from "../os/file_kind.ts";
import { joinPath, normalPath, realPath, walk } from "../filesystem/paths.ts";
import { type FileRequest, ServerCalls } from "./server_calls.ts";

/** What pushing needs. */
export interface PushHost {
  readonly id: string;
  /** Bytes of a piece: the option `file_buffer_size`. */
  readonly pieceBytes: number;
  readonly request: FileRequest;
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

/** Whether a path is not pushed. */
function isRefused(path: string): boolean {
  return path.includes("../") || !path.startsWith("/");
}

/** Pushes one file. @returns Whether the master has it. */
export async function pushFile(path: string, options: PushOptions, host: PushHost): Promise<boolean> {
  const { keepSymlinks, uploadPath, removeSource } = options;
  host.log("debug", `Trying to copy '${path}' to master`);
  if (isRefused(path)) return false;
  const source = keepSymlinks ? path : realPath(path);
  if (!isFile(source) || uploadPath?.includes("../")) return false;
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
 */
export async function pushDirectory(
  path: string,
  { glob, uploadPath }: { readonly glob?: string; readonly uploadPath?: string },
  host: PushHost,
): Promise<boolean> {
  if (isRefused(path)) return false;
  const top = realPath(path);
  if (isFile(top)) return await pushFile(top, { uploadPath }, host);
  const wanted = glob === undefined ? () => true : compileGlob(glob);
  const files = [...walk(top)].flatMap(({ path: directory, files }) =>
    files.filter(wanted).map((name) => joinPath(directory, name))
  );
  for (const file of files) {
    const to = uploadPath ? `/${uploadPath.replace(/^\/+|\/+$/g, "")}/${file.slice(top.length + 1)}` : undefined;
    if (!await pushFile(file, { uploadPath: to }, host)) return false;
  }
  return files.length > 0;
}
