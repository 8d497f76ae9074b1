/**
 * Execution module `file`: what the system says of files, digests, what kind of file a path is, parts of paths, and
 * reading. The rest is in `_file_backups.ts`, `checking.ts`, `editing.ts`, `finding.ts`, `managing.ts`, `ownership.ts`,
 * `replacing.ts` and `trees.ts`.
 *
 * All that takes a path needs all permissions: Deno lets nothing less look at `/proc`, `/sys` and `/dev`, and the names
 * of owners may come from a directory service. The logic is in `lib/host/filesystem`. Source: the functions of Salt
 * 3008.3 `salt/modules/file.py`.
 * @module
 */

import { sourceFiles } from "#modules/execution/_file_host.ts";
import { signatureCheck, SIGNATURES } from "./signatures.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { extractHash, hasHash, hashFile, hashText, readSourceHash } from "#lib/host/filesystem/checksums.ts";
import { readUtf8File } from "#lib/host/filesystem/contents.ts";
import { expandUser, globAny, isLink, linkTarget, realPath } from "#lib/os/disk_paths.ts";
import { baseName, dirName, expandVariables, joinPath, mustBeAbsolute, normalPath } from "#lib/os/paths.ts";
import { fileStatus, timesOf } from "#lib/host/filesystem/status.ts";
import { hashFileFetcher } from "#lib/host/filesystem/sources.ts";
import { listOpenFiles } from "#lib/host/filesystem/open_files.ts";
import { measureTree } from "#lib/host/filesystem/trees.ts";
import { isDirectory, isFile, lexists } from "#lib/os/file_kind.ts";
import { systemReason } from "#lib/os/deno_texts.ts";
import { deviceNumbers, fileSystemFacts } from "#lib/libc/inodes.ts";
import { mayAccess } from "#lib/libc/files.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { float, map, str } from "#lib/values/value.ts";

export const stats: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the status of a file: owner and group by name and number, size, mode, type, times, and the path without " +
      "links (`target`); with `hash_type`, also its digest (`sum`).",
    "file.stats /etc/passwd",
  ),
  permissions: "all",
  params: { path: p.str(), hash_type: p.str(null), follow_symlinks: p.bool(true) },
  run: ({ path, hash_type, follow_symlinks: follow }) => {
    const { atime, mtime, ctime, size, mode, type, target, ...ids } = fileStatus(expandUser(path), { follow });
    return map({
      ...ids,
      atime: float(atime),
      mtime: float(mtime),
      ctime: float(ctime),
      size,
      mode,
      ...hash_type ? { sum: hashFile(expandUser(path), hash_type) } : {},
      type,
      target,
    });
  },
});

export const lstat: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the status of a file (of a link itself, not of its target); an empty map if there is none.",
    "file.lstat /path/to/file",
  ),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => {
    mustBeAbsolute(expandUser(path), "Path to file must be absolute.");
    if (!lexists(expandUser(path))) return new Map();
    const info = Deno.lstatSync(expandUser(path));
    const { atime, mtime, ctime } = timesOf(expandUser(path), { info, follow: false });
    return map({
      st_atime: float(atime),
      st_ctime: float(ctime),
      st_gid: info.gid,
      st_mode: info.mode,
      st_mtime: float(mtime),
      st_nlink: info.nlink,
      st_size: info.size,
      st_uid: info.uid,
    });
  },
});

const DIGEST_FORM = p.str("sha256");

export const get_sum: ModuleFunction<JobContext> = fn({
  doc: describe("Return the digest of a file, or `File not found`.", "file.get_sum /etc/passwd sha512"),
  permissions: "all",
  params: { path: p.str(), form: DIGEST_FORM },
  run: ({ path, form }) => isFile(expandUser(path)) ? hashFile(expandUser(path), form) : "File not found",
});

export const get_hash: ModuleFunction<JobContext> = fn({
  doc: describe("Return the digest of a file.", "file.get_hash /etc/shadow"),
  permissions: "all",
  params: { path: p.str(), form: DIGEST_FORM, chunk_size: p.int(65536) },
  run: ({ path, form }) => hashFile(expandUser(path), form),
});

export const check_hash: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a file has a digest: `TYPE:DIGEST`, `TYPE=DIGEST`, or one whose length tells its type.",
    "file.check_hash /etc/fstab sha256=fe05bcdcdc4928012781a5f1a2a77cbb5398e106",
  ),
  permissions: "all",
  params: { path: p.str(), file_hash: p.any() },
  run: ({ path, file_hash }) => hasHash(expandUser(path), hashText(file_hash)),
});

export const extract_hash: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the digest of a file from a file of digests: `hsum` and `hash_type`, or None. The line is found by `source_hash_name`, " +
      "else by the name of `file_name`, else by that of `source`.",
    "file.extract_hash /path/to/hash/file sha512 /etc/foo",
  ),
  permissions: "all",
  params: {
    hash_fn: p.str(),
    hash_type: p.str("sha256"),
    file_name: p.str(""),
    source: p.str(""),
    source_hash_name: p.str(null),
  },
  run: ({ hash_fn, hash_type, file_name: fileName, source, source_hash_name: sourceHashName }) =>
    extractHash(hash_fn, { hashType: hash_type, fileName, source, sourceHashName }),
});

export const get_source_sum: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the digest from `source_hash`: a digest, `TYPE=DIGEST`, or a file of digests on this host or at a URL.",
    "file.get_source_sum /tmp/foo.tar.gz source=http://mydomain.tld/foo.tar.gz source_hash=499ae16dcae71eeb7c3a30c75ea7a1a6",
  ),
  permissions: "all",
  params: {
    file_name: p.str(""),
    source: p.str(""),
    source_hash: p.str(null),
    source_hash_name: p.str(null),
    saltenv: p.str("base"),
    verify_ssl: p.bool(true),
    ...SIGNATURES,
    sig_backend: p.str("gpg"),
  },
  run: async ({ file_name: fileName, source, source_hash, ...given }, context) => {
    const place = { saltenv: given.saltenv, files: sourceFiles(context), verifySsl: given.verify_ssl };
    const sum = await readSourceHash(
      source_hash,
      { fileName, source, sourceHashName: given.source_hash_name },
      hashFileFetcher(place, signatureCheck(given.source_hash_sig, given, context)),
    );
    return map({ ...sum });
  },
});

export const directory_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a path leads to a directory.", "file.directory_exists /etc"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => isDirectory(expandUser(path)),
});

export const file_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a path leads to a regular file.", "file.file_exists /etc/passwd"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => isFile(expandUser(path)),
});

export const path_exists_glob: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a path exists that matches a glob.", "file.path_exists_glob '/etc/pam*/pass*'"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => globAny(expandUser(path)).length > 0,
});

export const is_link: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a path is a symbolic link.", "file.is_link /path/to/link"),
  permissions: "all",
  params: { path: p.str(), nostat: p.bool(false) },
  run: ({ path, nostat }) => isLink(nostat ? path : expandUser(path)),
});

export const is_hardlink: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a file has more than one hard link.", "file.is_hardlink /path/to/link"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => {
    mustBeAbsolute(expandUser(path), "Path to file must be absolute.");
    // As in Salt, a missing file gives an empty map.
    return lexists(expandUser(path)) ? (Deno.lstatSync(expandUser(path)).nlink ?? 1) > 1 : new Map();
  },
});

/** A function that says whether a path leads to a special file. */
function kindTest(
  name: string,
  what: string,
  test: (info: Deno.FileInfo) => boolean | null,
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return whether a path leads to ${what}.`, `file.${name} /path`),
    permissions: "all",
    params: { name: p.str() },
    run: ({ name: path }) => isThere(expandUser(path)) && test(Deno.statSync(expandUser(path))) === true,
  });
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

export const is_chrdev: ModuleFunction<JobContext> = kindTest(
  "is_chrdev",
  "a character device",
  (info) => info.isCharDevice,
);

export const is_blkdev: ModuleFunction<JobContext> = kindTest(
  "is_blkdev",
  "a block device",
  (info) => info.isBlockDevice,
);

export const is_fifo: ModuleFunction<JobContext> = kindTest("is_fifo", "a FIFO", (info) => info.isFifo);

export const get_devmm: ModuleFunction<JobContext> = fn({
  doc: describe("Return the major and minor number of a device; [0, 0] for other files.", "file.get_devmm /dev/chr"),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }) => {
    const info = isThere(expandUser(name)) ? Deno.statSync(expandUser(name)) : undefined;
    const device = info?.isCharDevice === true || info?.isBlockDevice === true;
    return device ? [...deviceNumbers(info.rdev ?? 0)] : [0, 0];
  },
});

export const access: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether the minion has this access to a file: f (it exists), r, w or x.",
    "file.access /path/to/file f",
  ),
  permissions: "all",
  params: { path: p.str(), mode: p.any() },
  run: ({ path, mode }) => {
    mustBeAbsolute(expandUser(path), "Path to link must be absolute.");
    const modes: Readonly<Record<string, number>> = { f: 0, r: 4, w: 2, x: 1 };
    const bits = typeof mode === "string" && Object.hasOwn(modes, mode) ? modes[mode] : mode;
    if (bits !== 0 && bits !== 1 && bits !== 2 && bits !== 4) throw new InvocationError("Invalid mode specified.");
    return mayAccess(expandUser(path), bits);
  },
});

export const readlink: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the target of a symbolic link, or, with `canonicalize`, the resolved path.",
    "file.readlink /path/to/link",
  ),
  permissions: "all",
  params: { path: p.str(), canonicalize: p.bool(false) },
  run: ({ path, canonicalize }) => {
    const full = expandVariables(expandUser(path));
    mustBeAbsolute(full, `Path to link must be absolute: ${full}`);
    const target = linkTarget(full);
    if (target === undefined) throw new InvocationError(`A valid link was not specified: ${full}`);
    return canonicalize ? realPath(full) : target;
  },
});

export const readdir: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names in a directory, `.` and `..` among them.", "file.readdir /path/to/dir/"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => {
    mustBeAbsolute(expandUser(path), "Dir path must be absolute.");
    if (!isDirectory(expandUser(path))) {
      throw new InvocationError(`A valid directory was not specified: ${expandUser(path)}`);
    }
    return [".", "..", ...[...Deno.readDirSync(expandUser(path))].map(({ name }) => name)];
  },
});

export const statvfs: ModuleFunction<JobContext> = fn({
  doc: describe("Return the figures of the file system of a path (statvfs).", "file.statvfs /path/to/file"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => {
    mustBeAbsolute(expandUser(path), "File path must be absolute.");
    const facts = fileSystemFacts(expandUser(path));
    if (facts === undefined) throw new CommandError(`Could not statvfs '${expandUser(path)}'`);
    const names = [
      "bavail",
      "bfree",
      "blocks",
      "bsize",
      "favail",
      "ffree",
      "files",
      "flag",
      "frsize",
      "namemax",
    ] as const;
    return map(Object.fromEntries(names.map((name) => [`f_${name}`, facts[name]])));
  },
});

export const diskusage: ModuleFunction<JobContext> = fn({
  doc: describe("Return the bytes of a file, or of all files below a directory.", "file.diskusage /path/to/check"),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => measureTree(path),
});

export const open_files: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the open files with their pids, or, with `by_pid`, the pids with their open files.",
    "file.open_files",
  ),
  permissions: "all",
  params: { by_pid: p.bool(false) },
  run: ({ by_pid }) => listOpenFiles(by_pid),
});

export const pardir: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name of a directory's parent: `..`.", "file.pardir"),
  params: {},
  run: () => "..",
});

export const normpath: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a normalized path, without empty parts, `.` and `..`. No file is read.",
    "file.normpath 'a/b/c/..'",
  ),
  params: { path: p.str() },
  run: ({ path }) => normalPath(path),
});

export const basename: ModuleFunction<JobContext> = fn({
  doc: describe("Return the part of a path after its last slash.", "file.basename 'test/test.config'"),
  params: { path: p.str() },
  run: ({ path }) => baseName(path),
});

export const dirname: ModuleFunction<JobContext> = fn({
  doc: describe("Return the part of a path before its last slash.", "file.dirname 'test/path/filename.config'"),
  params: { path: p.str() },
  run: ({ path }) => dirName(path),
});

export const join: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Join parts of a path; an absolute part replaces those before it.",
    "file.join '/' 'usr' 'local' 'bin'",
  ),
  params: {},
  varArgs: "args",
  run: (_bound, _context, { args }) => {
    const [first, ...more] = args.map(str);
    if (first === undefined) throw new InvocationError("join() missing 1 required positional argument: 'a'");
    return joinPath(first, ...more);
  },
});

export const seek_read: ModuleFunction<JobContext> = fn({
  doc: describe("Return `size` bytes of a file from `offset` on.", "file.seek_read /path/to/file 4096 0"),
  permissions: "all",
  params: { path: p.str(), size: p.int(), offset: p.int() },
  run: ({ path, size, offset }) => {
    using file = Deno.openSync(expandUser(path));
    file.seekSync(offset, Deno.SeekMode.Start);
    const bytes = new Uint8Array(Math.min(size, Math.max(0, Deno.statSync(expandUser(path)).size - offset) || size));
    return bytes.subarray(0, file.readSync(bytes) ?? 0);
  },
});

export const read: ModuleFunction<JobContext> = fn({
  doc: describe("Return the contents of a file, as text or with `binary` as bytes.", "file.read /path/to/file"),
  permissions: "all",
  params: { path: p.str(), binary: p.bool(false) },
  run: ({ path, binary }) => {
    try {
      return binary ? Deno.readFileSync(path) : readUtf8File(path);
    } catch (error) {
      if (error instanceof CommandError || error instanceof Deno.errors.NotCapable) throw error;
      throw new CommandError(`Cannot read '${path}': ${systemReason(error)}`);
    }
  },
});
