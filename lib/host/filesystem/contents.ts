/**
 * What is in a file: whether it is text, in which encoding, its lines as Python splits them, and writing it again.
 * Source: Salt 3008.3, `salt/utils/files.py` is_text, get_encoding; `salt/utils/stringutils.py` is_binary;
 * `salt/utils/filebuffer.py`; `salt/utils/atomicfile.py`.
 * @module
 */

import { openToWrite, readForChange } from "#lib/os/new_files.ts";
import { currentUmask } from "#lib/os/umask.ts";
import { isBinary as isBinaryData } from "#lib/text/binary_data.ts";
import { CommandError } from "#lib/errors.ts";
import { copyAttributes } from "#lib/libc/inodes.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { streamDecoder } from "#lib/text/encoding.ts";
import { LINE_ENDS } from "#lib/values/python_text.ts";
import { createHeld, type Held, type HeldDirectory, inDirectoryOf } from "#lib/os/held_path.ts";
import { baseName } from "#lib/os/paths.ts";
import { writeAll } from "#lib/os/write_all.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";

/** Bytes that decide whether a file is text. */
const TEXT_BLOCK = 512;
/** Bytes that tell a file's encoding. */
const ENCODING_BLOCK = 2048;

/**
 * The first `max` bytes of the file at `path`.
 * @throws What Deno throws.
 */
function readBeginning(path: string, max: number): Uint8Array {
  using file = Deno.openSync(path);
  const block = new Uint8Array(max);
  return block.subarray(0, readFull(file, block));
}

/** Whether the beginning of the file reads as text; `false` too if it cannot be read. */
export function isText(path: string): boolean {
  try {
    return !isBinaryData(readBeginning(path, TEXT_BLOCK));
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return false;
  }
}

/** Whether a file of these bytes holds text, as {@linkcode isText} says it. */
export function beginsAsText(bytes: Uint8Array): boolean {
  return !isBinaryData(bytes.subarray(0, TEXT_BLOCK));
}

/** Whether the file's first 2 KB are not text; `false` for what is not a regular file. */
export function isBinaryFile(path: string): boolean {
  return isFile(path) && isBinaryData(readBeginning(path, ENCODING_BLOCK));
}

/** Whether `bytes` are UTF-8. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

const MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ["UTF-32-BE", [0x00, 0x00, 0xfe, 0xff]],
  ["UTF-32-LE", [0xff, 0xfe, 0x00, 0x00]],
  ["UTF-16-BE", [0xfe, 0xff]],
  ["UTF-16-LE", [0xff, 0xfe]],
  ["UTF-8", [0xef, 0xbb, 0xbf]],
  ["UTF-7", [0x2b, 0x2f, 0x76]],
];

/** The encoding of a file, by its mark or because it is UTF-8; `undefined` if it is not known. */
export function detectEncoding(path: string): string | undefined {
  if (!isFile(path)) return undefined;
  const block = readBeginning(path, ENCODING_BLOCK);
  const marked = MARKS.find(([, mark]) => mark.every((byte, i) => block[i] === byte))?.[0];
  return marked ?? (isUtf8(block) ? "UTF-8" : undefined);
}

/**
 * The UTF-8 text of the file at `path`, with its byte order mark.
 * @throws {CommandError} If it is not UTF-8.
 */
export function readUtf8File(path: string): string {
  return decodeUtf8(readForChange(path), path);
}

/**
 * `bytes` as UTF-8.
 * @throws {CommandError} If they are not.
 */
export function decodeUtf8(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandError(`Cannot read ${path}: it is not valid UTF-8`);
  }
}

/** Bytes as text to be shown: as UTF-8, or as Latin-1 if they are not. */
export function lenientText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  }
}

/** The lines with their ends, which are `\n`, `\r\n` and `\r`: Python's files of text, and `bytes.splitlines(True)`. */
export function universalLines(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? [];
}

const LINES = new RegExp(`[^${LINE_ENDS}]*(?:\r\n|[${LINE_ENDS}])|[^${LINE_ENDS}]+$`, "g");

/** The lines with their ends: Python's `str.splitlines(True)`. */
export function keptLines(text: string): string[] {
  return text.match(LINES) ?? [];
}

/** Length of the window in which a file is searched, and its step, in characters. */
const WINDOW = 256 * 1024, STRIDE = 32 * 1024;

/**
 * The text of a file in overlapping pieces, so that a search needs no more memory for a large one. Invalid UTF-8 is
 * replaced.
 */
export function* textWindows(path: string): Generator<string, void> {
  using file = Deno.openSync(path);
  const decode = streamDecoder(null);
  const block = new Uint8Array(STRIDE);
  let window = "", fresh = 0, first = true;
  for (;;) {
    const length = file.readSync(block) ?? 0;
    const more = decode(block.subarray(0, length), length === 0);
    window += more;
    fresh += more.length;
    if (length === 0) {
      if (fresh > 0 || (first && window !== "")) yield window;
      return;
    }
    const wanted = first ? WINDOW : STRIDE;
    if (fresh < wanted) continue;
    yield window;
    first = false;
    fresh = 0;
    window = window.slice(STRIDE);
  }
}

/** How a file that is written again differs from the old one. */
export interface NewFile {
  /** The owner of a file that was not there. Default: this process's user. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Permission bits of a file that was not there. Default: those that the umask leaves of 0666. */
  readonly mode?: number;
}

/**
 * Puts `bytes` into the file at `path` at once: others see the old contents or the new ones. Owner, mode, access
 * control list and labels of an old file are kept. A link at `path` itself is replaced, so resolve it before.
 * @throws What Deno throws; then the old file is as it was.
 */
export function replaceFile(path: string, bytes: Uint8Array, { mode, owner }: NewFile = {}): void {
  inDirectoryOf(path, (directory, name) => {
    // Held, so that its owner, mode and attributes are those of one file.
    using there = directory.find(name);
    const old = there?.status();
    putBeside({ directory, name, prefix: ".___atomic_write" }, (file) => {
      writeAll(file, bytes);
      file.syncSync();
    }, (made) => {
      if (there !== undefined && old !== undefined && !old.isSymlink) {
        if (old.uid !== Deno.uid() || old.gid !== Deno.gid()) Deno.chownSync(made.path, old.uid, old.gid);
        copyAttributes(there.path, made.path);
        Deno.chmodSync(made.path, (old.mode ?? 0o600) & 0o7777);
      } else {
        if (owner !== undefined) Deno.chownSync(made.path, owner.uid, owner.gid);
        Deno.chmodSync(made.path, mode ?? 0o666 & ~currentUmask());
      }
    });
  });
}

/** Where a file is put: the entry of a held directory, and how temporary names begin. */
export interface Putting {
  readonly directory: HeldDirectory;
  readonly name: string;
  readonly prefix: string;
}

/**
 * Makes a file beside the entry, and renames it to that.
 * @param fill Writes its contents.
 * @param finish Gives it its owner and mode: by its own path, because its name may lead elsewhere.
 * @throws What Deno throws; then the entry is as it was.
 */
export function putBeside(
  { directory, name, prefix }: Putting,
  fill: (file: Deno.FsFile) => void,
  finish: (made: Held) => void,
): void {
  const temporary = directory.at(`${prefix}${crypto.randomUUID().slice(0, 8)}`);
  try {
    using file = createHeld(directory, baseName(temporary), fill);
    finish(file);
    Deno.renameSync(temporary, directory.at(name));
  } catch (error) {
    removeIfExists(temporary);
    throw error;
  }
}

/**
 * Copies a file with its mode, times and attributes, as Python's `copy2`. What is at `to`, a link as well, is replaced
 * and not written through.
 * @param options.owner Whether the copy belongs to the owner of `from`, not to this process.
 */
export function copyKeeping(from: string, to: string, { owner = false }: { readonly owner?: boolean } = {}): void {
  using source = Deno.openSync(from);
  const info = source.statSync();
  inDirectoryOf(to, (directory, name) => {
    putBeside({ directory, name, prefix: `${name}.` }, (file) => copyOpen(source, file), (made) => {
      if (owner) Deno.chownSync(made.path, info.uid, info.gid);
      copyAttributes(from, made.path);
      Deno.chmodSync(made.path, (info.mode ?? 0o600) & 0o7777);
      if (info.atime !== null && info.mtime !== null) Deno.utimeSync(made.path, info.atime, info.mtime);
    });
  });
}

/** Bytes that are copied, or compared, at once. */
const COPY_BLOCK = 1 << 18;

/**
 * Copies all bytes of the file at `from` to an open file, piece by piece.
 * @throws What Deno throws.
 */
export function copyBytes(from: string, to: Deno.FsFile): void {
  using source = Deno.openSync(from);
  copyOpen(source, to);
}

/** As {@linkcode copyBytes}, of an open file. */
export function copyOpen(source: Deno.FsFile, to: Deno.FsFile): void {
  const block = new Uint8Array(Math.min(COPY_BLOCK, source.statSync().size + 1));
  for (let length = source.readSync(block); length !== null; length = source.readSync(block)) {
    writeAll(to, block.subarray(0, length));
  }
}

/**
 * Whether two files have the same bytes, which are read piece by piece.
 * @throws What Deno throws.
 */
export function sameFileBytes(one: string, other: string): boolean {
  using first = Deno.openSync(one);
  using second = Deno.openSync(other);
  const size = first.statSync().size;
  if (size !== second.statSync().size) return false;
  const [a, b] = [0, 1].map(() => new Uint8Array(Math.min(COPY_BLOCK, size + 1)));
  for (;;) {
    const [read, bytesOfB] = [readFull(first, a), readFull(second, b)];
    if (read !== bytesOfB || differ(a, b, read)) return false;
    if (read === 0) return true;
  }
}

function differ(a: Uint8Array, b: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return true;
  return false;
}

/**
 * Fills `block` as far as the file goes.
 * @returns How many bytes that are.
 */
function readFull(file: Deno.FsFile, block: Uint8Array): number {
  let length = 0;
  for (let got = file.readSync(block); got !== null && got > 0; got = file.readSync(block.subarray(length))) {
    length += got;
  }
  return length;
}

/** Overwrites the file where `path` leads: the inode stays, for hard links and processes that have it open. */
export function overwriteFile(path: string, bytes: Uint8Array): void {
  using file = openToWrite(path, { truncate: true });
  writeAll(file, bytes);
}
