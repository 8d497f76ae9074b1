/**
 * Execution module `file`, third part: making, linking, copying, moving and removing files and directories, and special
 * files. Source: the functions of Salt 3008.3 `salt/modules/file.py`.
 * @module
 */

import { holdTarget, inDirectoryOf, renameHeld } from "#lib/os/held_path.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { openToWrite } from "#lib/os/new_files.ts";
import { ownUmask } from "#lib/os/umask.ts";
import { fileHost } from "#modules/execution/_file_host.ts";
import { parseMode } from "#lib/host/filesystem/ownership.ts";
import { expandUser, isLink, linkTarget } from "#lib/os/disk_paths.ts";
import { dirName, joinPath, mustBeAbsolute, normalPath } from "#lib/os/paths.ts";
import { checkPermissions, readResult } from "#lib/host/filesystem/permission_check.ts";
import { fileStatus } from "#lib/host/filesystem/status.ts";
import {
  copyContents,
  copyOver,
  copyTree,
  makeDirectories,
  makeDirectory,
  makeParents,
  moveAny,
  removeAny,
  removeEmpty,
} from "#lib/host/filesystem/trees.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { pythonOsError, systemReason } from "#lib/os/deno_texts.ts";
import { existsOrThrow, isDirectory, lexists } from "#lib/os/file_kind.ts";
import { type DeviceNode, makeNode } from "#lib/libc/inodes.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, toNumber, truthy, type Value } from "#lib/values/value.ts";

/** Owner, group and mode of new files and directories. */
interface Owned {
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
}

/** Gives each new directory its owner and mode. */
function ownAs(wanted: Owned, context: JobContext): (path: string) => Promise<void> {
  return async (path) => {
    await checkPermissions(readResult(path, null), { path, wanted, host: fileHost(context) });
  };
}

const DIRECTORY = { user: p.any(null), group: p.any(null), mode: p.any(null) };

export const mkdir: ModuleFunction<JobContext> = fn({
  doc: describe("Create a directory and its parents, unless it exists.", "file.mkdir /opt/jetty/context"),
  permissions: "all",
  params: { dir_path: p.str(), ...DIRECTORY },
  run: async ({ dir_path, ...wanted }, context) => {
    await makeDirectory(expandUser(dir_path), ownAs(wanted, context));
    return true;
  },
});

export const makedirs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create the parent directories of a path; with a slash at its end, the path itself too. Returns a sentence if they exist.",
    "file.makedirs /opt/code/",
  ),
  permissions: "all",
  params: { path: p.str(), ...DIRECTORY },
  run: ({ path, ...wanted }, context) => makeParents(expandUser(path), ownAs(wanted, context)),
});

export const makedirs_perms: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create a new directory and its parents, with owner and mode.",
    "file.makedirs_perms /opt/code",
  ),
  permissions: "all",
  params: { name: p.str(), user: p.any(null), group: p.any(null), mode: p.any("0755") },
  run: async ({ name, ...wanted }, context) => {
    await makeDirectories(expandUser(name), ownAs(wanted, context));
    return null;
  },
});

export const touch: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create a file unless it exists, and set its times: now, or seconds since the epoch.",
    "file.touch /var/log/emptyfile",
  ),
  permissions: "all",
  params: { name: p.str(), atime: p.any(null), mtime: p.any(null) },
  run: ({ name, atime, mtime }) => {
    const path = expandUser(name);
    const time = (given: Value) => {
      if (given === null) return Date.now() / 1000;
      const seconds = typeof given === "string" && /^\d+$/.test(given) ? Number(given) : toNumber(given);
      if (seconds === undefined) throw new InvocationError("atime and mtime must be integers");
      return seconds;
    };
    const times = [time(atime), time(mtime)] as const;
    try {
      openToWrite(path, { append: true }).close();
      setTimes(path, times);
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      if (!isDirectory(path)) throw new CommandError(systemReason(error));
      setTimes(path, times);
    }
    return lexists(path);
  },
});

function setTimes(path: string, times: readonly [number, number]): void {
  using held = holdTarget(path);
  Deno.utimeSync(held.path, ...times);
}

export const link: ModuleFunction<JobContext> = fn({
  doc: describe("Make a hard link to a file.", "file.link /path/to/file /path/to/link"),
  permissions: "all",
  params: { src: p.str(), path: p.str() },
  run: ({ src, path }) => {
    mustBeAbsolute(expandUser(src), "File path must be absolute.");
    try {
      inDirectoryOf(path, (directory, name) => Deno.linkSync(expandUser(src), directory.at(name)));
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      throw new CommandError(`Could not create '${path}': ${pythonOsError(error, expandUser(src))} -> '${path}'`);
    }
  },
});

export const symlink: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create a symbolic link at `path` to `src`. Anything else at `path` is an error; `force` removes it first, `atomic` replaces it " +
      "atomically.",
    "file.symlink /path/to/file /path/to/link",
  ),
  permissions: "all",
  params: { src: p.str(), path: p.str(), force: p.bool(false), atomic: p.bool(false), follow_symlinks: p.bool(true) },
  run: ({ src, path: given, force, atomic, follow_symlinks }) => {
    const path = expandUser(given);
    mustBeAbsolute(path, `Link path must be absolute: ${path}`);
    const exists = follow_symlinks ? existsOrThrow(path) : lexists(path);
    const old = linkTarget(path);
    if (old !== undefined) {
      if (normalPath(old) === normalPath(src)) return true;
      if (!force && !atomic) throw new CommandError(`Found existing symlink: ${path}`);
    }
    if (exists && !force && !atomic) throw new CommandError(`Existing path is not a symlink: ${path}`);
    try {
      if (atomic) {
        replaceByLink(src, path);
        return true;
      }
      if (force && (old !== undefined || exists)) removeFile(path);
      inDirectoryOf(path, (directory, name) => Deno.symlinkSync(src, directory.at(name)));
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable || error instanceof CommandError) throw error;
      throw new CommandError(`Could not create '${path}'`);
    }
  },
});

/**
 * Removes what is not a directory.
 * @throws {CommandError} For a directory.
 */
function removeFile(path: string): void {
  if (!isLink(path) && isDirectory(path)) throw new CommandError(`[Errno 21] Is a directory: '${path}'`);
  inDirectoryOf(path, (directory, name) => Deno.removeSync(directory.at(name)));
}

/** @throws {CommandError} If the temporary link is left: the reasons of both failures. */
function replaceByLink(src: string, path: string): void {
  inDirectoryOf(path, (directory, name) => {
    const temporary = `tmp${crypto.randomUUID().slice(0, 8)}`;
    Deno.symlinkSync(src, directory.at(temporary));
    try {
      Deno.renameSync(directory.at(temporary), directory.at(name));
    } catch (cause) {
      try {
        removeIfExists(directory.at(temporary));
      } catch (error) {
        const left = joinPath(dirName(path), temporary);
        const reasons = `${pythonOsError(cause, path)}; and could not remove '${left}': ${pythonOsError(error, left)}`;
        throw new CommandError(`Could not create '${path}': ${reasons}`, { cause });
      }
      throw cause;
    }
  });
}

export const rename: ModuleFunction<JobContext> = fn({
  doc: describe("Rename a file or directory.", "file.rename /path/to/src /path/to/dst"),
  permissions: "all",
  params: { src: p.str(), dst: p.str() },
  run: ({ src, dst }) => renamePath(expandUser(src), expandUser(dst)),
});

function renamePath(from: string, to: string): true {
  mustBeAbsolute(from, "File path must be absolute.");
  try {
    renameHeld(from, to);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new CommandError(`Could not rename '${from}' to '${to}'`);
  }
}

export const move: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Move a file or directory, into a directory if `dst` is one, also to another file system unless disallow_copy_and_unlink.",
    "file.move /path/to/src /path/to/dst",
  ),
  permissions: "all",
  params: { src: p.str(), dst: p.str(), disallow_copy_and_unlink: p.bool(false) },
  run: ({ src, dst, disallow_copy_and_unlink }) => {
    const [from, to] = [expandUser(src), expandUser(dst)];
    if (disallow_copy_and_unlink) return renamePath(from, to);
    mustBeAbsolute(from, "Source path must be absolute.");
    mustBeAbsolute(to, "Destination path must be absolute.");
    try {
      moveAny(from, to);
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      const reason = error instanceof CommandError ? messageOf(error) : pythonOsError(error, from);
      throw new CommandError(`Unable to move '${from}' to '${to}': ${reason}`);
    }
    return map({ result: true, comment: `'${from}' moved to '${to}'` });
  },
});

export const copy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Copy a file, or, with `recurse`, a directory: into an existing one, or, with `remove_existing`, in its place. The copy gets the owner and mode of the source.",
    "file.copy /path/to/src /path/to/dst",
    "file.copy /path/to/src_dir /path/to/dst_dir recurse=True remove_existing=True",
  ),
  permissions: "all",
  params: { src: p.str(), dst: p.str(), recurse: p.bool(false), remove_existing: p.bool(false) },
  run: async ({ src, dst, recurse, remove_existing }, context) => {
    const [from, to] = [expandUser(src), expandUser(dst)];
    mustBeAbsolute(from, "File path must be absolute.");
    if (!existsOrThrow(from)) throw new CommandError(`No such file or directory '${from}'`);
    const status = fileStatus(from);
    const trees = isDirectory(to) || isDirectory(from);
    if (trees && !recurse) {
      throw new InvocationError("Cannot copy overwriting a directory without recurse flag set to true!");
    }
    try {
      if (!trees) copyContents(from, to);
      else if (remove_existing) {
        if (existsOrThrow(to)) removeAny(to);
        copyTree(from, to);
      } else {
        copyOver(from, to);
      }
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      throw new CommandError(`Could not copy '${from}' to '${to}'`);
    }
    await ownAs(status, context)(to);
    return true;
  },
});

export const remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a file, a link, or a directory with all that is in it. Returns whether it existed.",
    "file.remove /tmp/foo",
  ),
  permissions: "all",
  params: { path: p.str() },
  varKwargs: "kwargs",
  run: ({ path: given }) => {
    const path = expandUser(given);
    mustBeAbsolute(path, `File path must be absolute: ${path}`);
    try {
      return removeAny(path);
    } catch (error) {
      throw asCommandError(error, path, `Could not remove '${path}': `);
    }
  },
});

export const rmdir: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove an empty directory; with `recurse`, first the empty directories in it; with `older_than`, only those not changed for that many days. Returns " +
      "whether that went well, with `verbose`, what was deleted and what was not.",
    "file.rmdir /tmp/foo/",
  ),
  permissions: "all",
  params: { path: p.str(), recurse: p.bool(false), verbose: p.bool(false), older_than: p.any(null) },
  run: ({ path: given, recurse, verbose, older_than }, context) => {
    const path = expandUser(given);
    mustBeAbsolute(path, "File path must be absolute.");
    if (!isDirectory(path)) throw new InvocationError(`A valid directory was not specified: ${path}`);
    let before: number | undefined;
    if (truthy(older_than)) {
      const days = typeof older_than === "string" && /^\d+$/.test(older_than)
        ? Number(older_than)
        : toNumber(older_than);
      if (days === undefined) context.log("error", "Unable to set 'older_than'. Defaulting to 0 days.");
      else before = Date.now() / 1000 - Math.trunc(days) * 86_400;
    }
    const { deleted, errors, result } = removeEmpty(path, { recurse, before });
    for (const [at, reason] of errors) context.log("error", `Could not remove '${at}': ${reason}`);
    return verbose ? map({ deleted, errors, result }) : result;
  },
});

/** Words of Salt's for a special file. */
const NODES: Readonly<Record<DeviceNode["kind"], string>> = {
  char: "Character device",
  block: "Block device",
  fifo: "Fifo pipe",
};

async function makeSpecial(
  path: string,
  { node, wanted, context }: { readonly node: DeviceNode; readonly wanted: Owned; readonly context: JobContext },
): Promise<Value> {
  const changes = map({ new: `${NODES[node.kind]} ${path} created.` });
  if (context.opts.test === true) return map({ name: path, changes, comment: "", result: null });
  if (lexists(path)) {
    await ownAs(wanted, context)(path);
    return map({ name: path, changes: {}, comment: `File ${path} exists and cannot be overwritten`, result: false });
  }
  makeNode(path, node, parseMode(wanted.mode) & ~(ownUmask() ?? 0));
  await ownAs(wanted, context)(path);
  return map({ name: path, changes, comment: "", result: true });
}

const NODE_OWNER = { user: p.any(null), group: p.any(null), mode: p.any("0660") };

export const mknod_chrdev: ModuleFunction<JobContext> = fn({
  doc: describe("Make a character device.", "file.mknod_chrdev /dev/chr 180 31"),
  permissions: "all",
  params: { name: p.str(), major: p.int(), minor: p.int(), ...NODE_OWNER },
  run: ({ name, major, minor, ...wanted }, context) =>
    makeSpecial(expandUser(name), { node: { kind: "char", major, minor }, wanted, context }),
});

export const mknod_blkdev: ModuleFunction<JobContext> = fn({
  doc: describe("Make a block device.", "file.mknod_blkdev /dev/blk 8 999"),
  permissions: "all",
  params: { name: p.str(), major: p.int(), minor: p.int(), ...NODE_OWNER },
  run: ({ name, major, minor, ...wanted }, context) =>
    makeSpecial(expandUser(name), { node: { kind: "block", major, minor }, wanted, context }),
});

export const mknod_fifo: ModuleFunction<JobContext> = fn({
  doc: describe("Make a FIFO.", "file.mknod_fifo /dev/fifo"),
  permissions: "all",
  params: { name: p.str(), ...NODE_OWNER },
  run: ({ name, ...wanted }, context) => makeSpecial(expandUser(name), { node: { kind: "fifo" }, wanted, context }),
});

export const mknod: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create a special file (c, b or p) and its parent directories.",
    "file.mknod /dev/chr c 180 31",
    "file.mknod /dev/fifo p",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    ntype: p.str(),
    major: p.int(0),
    minor: p.int(0),
    user: p.any(null),
    group: p.any(null),
    mode: p.any("0600"),
  },
  run: async ({ name, ntype, major, minor, ...wanted }, context) => {
    await makeParents(expandUser(name), ownAs({ ...wanted, mode: null }, context));
    const nodes: Readonly<Record<string, DeviceNode>> = {
      c: { kind: "char", major, minor },
      b: { kind: "block", major, minor },
      p: { kind: "fifo" },
    };
    if (!Object.hasOwn(nodes, ntype)) {
      throw new InvocationError(
        `Node type unavailable: '${ntype}'. Available node types are character ('c'), block ('b'), and pipe ('p').`,
      );
    }
    return await makeSpecial(expandUser(name), { node: nodes[ntype], wanted, context });
  },
});
