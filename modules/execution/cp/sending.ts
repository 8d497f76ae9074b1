/**
 * The functions of the module `cp` that take files which `salt-cp` sends, and that send files to the master.
 * Source: the functions and results of Salt 3008.3 `salt/modules/cp.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { holdTarget } from "#lib/os/held_path.ts";
import { createDirectory, openToWrite, writeWithUmask } from "#lib/os/new_files.ts";
import { pushDirectory, pushFile, type PushHost } from "#lib/files/client/pushing.ts";
import { baseName, dirName } from "#lib/os/paths.ts";
import { messageOf } from "#lib/errors.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { describe } from "#lib/plugins/docs.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { gunzip } from "#lib/values/gzip.ts";
import { bytesOf } from "#lib/values/shape.ts";
import { str, type Value } from "#lib/values/value.ts";

/** Salt's answer if a file cannot be written there. */
const UNAVAILABLE = "Destination unavailable";

export const recv: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Write small files that salt-cp sends. Return for each whether it succeeded.

files
    What each file holds, by the path that it had.

dest
    Where it is to be: a file, or a directory that is there.`,
    "cp.recv",
  ),
  permissions: { read: true, write: true },
  params: { files: p.dict(), dest: p.str() },
  run({ files, dest }) {
    const results = new Map<Value, Value>();
    for (const [path, data] of files) {
      const final = destination(str(path), dest);
      if (final === undefined) return UNAVAILABLE;
      try {
        writeWithUmask(final, bytesOf(data));
        results.set(final, true);
      } catch {
        results.set(final, false);
      }
    }
    return results;
  },
});

export const recv_chunked: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Write a piece of a file that salt-cp sends; directories that are missing are made. The result is True, or what went wrong.

dest
    Path of the file, or of a directory without files in it.

chunk
    The piece in base64; None makes the directory \`dest\`.

append
    Whether the piece is appended to the file.

compressed
    Whether the piece is gzipped.

mode
    Permission bits that a new file gets.`,
    "cp.recv_chunked",
  ),
  permissions: "all",
  params: { dest: p.str(), chunk: p.any(), append: p.bool(false), compressed: p.bool(true), mode: p.int(null) },
  async run({ dest, chunk, append, compressed, mode }, context) {
    try {
      if (chunk === null) return makeDirectory(dest);
      const bytes = Uint8Array.fromBase64(chunk instanceof Uint8Array ? new TextDecoder().decode(chunk) : str(chunk));
      const piece = compressed ? await gunzip(bytes) : bytes;
      using file = openIn(dest, append);
      for (let at = 0; at < piece.length;) at += await file.write(piece.subarray(at));
      if (!append && mode !== null) {
        using held = holdTarget(dest);
        Deno.chmodSync(held.path, mode);
      }
      return true;
    } catch (error) {
      context.setRetcode(1);
      return messageOf(error);
    }
  },
});

/** The destination of the file from `path`; `undefined` if there is none. */
function destination(path: string, dest: string): string | undefined {
  const directory = isDirectory(dest);
  if (baseName(path) === baseName(dest) && !directory) return dest;
  if (directory) return `${rstripChars(dest, "/")}/${baseName(path)}`;
  return isDirectory(dirName(dest)) ? dest : undefined;
}

function makeDirectory(path: string): Value {
  try {
    createDirectory(path, { recursive: true });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return "Path exists and is a file";
    throw error;
  }
}

function openIn(path: string, append: boolean): Deno.FsFile {
  const options = { append, truncate: !append };
  try {
    return openToWrite(path, options);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    createDirectory(dirName(path), { recursive: true });
    return openToWrite(path, options);
  }
}

function pushHost({ opts, outside, log }: JobContext): PushHost {
  return {
    id: opts.id ?? "",
    pieceBytes: opts.file_buffer_size,
    request: (load) => outside.request(load),
    log: (level, message) => log(level, message),
  };
}

/** The result of a function that sends: the job has failed if the master has not taken all. */
function reportTaken(taken: boolean, context: JobContext): boolean {
  if (!taken) context.setRetcode(1);
  return taken;
}

export const push: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Send a file to the master, which keeps it below minions/<id>/files in its cache directory, and return whether it took it. Needs the master's option
file_recv. A path of which there is no file is an error. Everybody who may read there sees the file.

path
    An absolute path.

keep_symlinks
    Whether the path of a link is kept, and not replaced by its target.

upload_path
    Another path for the file on the master.

remove_source
    Whether the file is removed here afterwards.`,
    "cp.push /etc/fstab",
    "cp.push /etc/fstab upload_path='/new/path/fstab'",
  ),
  permissions: { read: true, write: true },
  params: { path: p.str(), keep_symlinks: p.bool(false), upload_path: p.str(null), remove_source: p.bool(false) },
  run: async ({ path, keep_symlinks: keepSymlinks, upload_path, remove_source: removeSource }, context) =>
    reportTaken(
      await pushFile(path, { keepSymlinks, uploadPath: upload_path ?? undefined, removeSource }, pushHost(context)),
      context,
    ),
});

export const push_dir: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Send all files below a directory to the master, as cp.push does, and return whether it has them all.

glob
    Only files whose names match.

upload_path
    Another path for the directory on the master.`,
    "cp.push_dir /etc/modprobe.d/ glob='*.conf'",
  ),
  permissions: { read: true },
  params: { path: p.str(), glob: p.str(null), upload_path: p.str(null) },
  run: async ({ path, glob, upload_path }, context) =>
    reportTaken(
      await pushDirectory(path, { glob: glob ?? undefined, uploadPath: upload_path ?? undefined }, pushHost(context)),
      context,
    ),
});
