/**
 * Unpacks ZIP archives. A name cannot lead out of the directory, nor can a link in the archive: nothing is written
 * through links. No data belong to two members, so an archive unpacks to no more than deflate makes of its own bytes.
 * Source: PKWARE APPNOTE.TXT 6.3, with its traditional encryption; `zipfile.py` of Python 3.11 and 3.12 for what is
 * refused.
 * @module
 */

import { withoutEndSlashes } from "#lib/values/python_text.ts";
import { type HeldDirectory, holdDirectory, holdOpen } from "#lib/os/held_path.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { createDirectory, openToWrite } from "#lib/os/new_files.ts";
import { currentUmask } from "#lib/os/umask.ts";
import { CommandError } from "#lib/errors.ts";
import { crc32 } from "#lib/values/crc32.ts";
import type { ZipMember } from "./zip_directory.ts";
import { writeAll } from "#lib/os/write_all.ts";
import { repr } from "#lib/values/value.ts";

/** Options of unpacking. */
export interface Extracting {
  readonly archive: string;
  /** The directory to unpack into, which is made. */
  readonly dest: string;
  readonly password?: Uint8Array;
  /** Whether files get the modes that the archive keeps. */
  readonly modes: boolean;
}

const S_IFMT = 0o170000, S_IFLNK = 0o120000;
const DEFLATED = 8;
/** Maximum length of the target of a link. */
const MAX_LINK = 4096;

/** Whether a member is a symbolic link. */
export function isZipLink({ mode }: ZipMember): boolean {
  return (mode & S_IFMT) === S_IFLNK;
}

/**
 * Unpacks one member.
 * @throws {CommandError} If it cannot be read, or would be written through a link.
 */
export async function extractMember(member: ZipMember, { archive, dest, password, modes }: Extracting): Promise<void> {
  const parts = member.name.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
  if (parts.some((part) => part.includes("\0"))) {
    throw new CommandError(`the name ${JSON.stringify(member.name)} is not valid`);
  }
  const directory = member.name.endsWith("/");
  using inside = makeInside(dest, directory ? parts : parts.slice(0, -1));
  const perms = (member.mode & 0o7777) || ((directory ? 0o777 : 0o666) & ~currentUmask());
  if (directory) {
    if (modes && parts.length > 0) Deno.chmodSync(inside.path, perms);
    return;
  }
  const name = parts[parts.length - 1] ?? "", path = inside.at(name);
  if (isZipLink(member)) {
    if (member.size > MAX_LINK) throw new CommandError(`the link '${member.name}' is too long`);
    const chunks = await Array.fromAsync(contents(member, { archive, password }));
    const target = new TextDecoder().decode(await new Response(new Blob(chunks)).arrayBuffer());
    Deno.symlinkSync(target, path);
    return;
  }
  const chunks = contents(member, { archive, password });
  // A wrong password is reported before anything is written.
  const first = await chunks.next();
  if (isLink(path)) Deno.removeSync(path);
  let crc = 0, size = 0;
  using file = openToWrite(path, { truncate: true });
  for (let { value: chunk, done } = first; !done && chunk !== undefined; { value: chunk, done } = await chunks.next()) {
    size += chunk.length;
    if (size > member.size) break;
    crc = crc32(chunk, crc);
    writeAll(file, chunk);
  }
  if (size !== member.size || crc !== member.crc) throw new CommandError(`Bad CRC-32 for file '${member.name}'`);
  if (modes) {
    using made = holdOpen(inside, name, file);
    Deno.chmodSync(made.path, perms);
  }
}

/**
 * Makes directories below `dest`.
 * @returns The last one, held: nothing that is put into it goes elsewhere, whatever a user does with its name.
 * @throws {CommandError} If one of them is a link.
 */
function makeInside(dest: string, parts: readonly string[]): HeldDirectory {
  createDirectory(dest, { recursive: true });
  let directory = holdDirectory(withoutEndSlashes(dest));
  try {
    for (const part of parts) {
      if (!lexistsOrThrow(directory.at(part))) createDirectory(directory.at(part));
      const next = directory.enter(part);
      directory[Symbol.dispose]();
      directory = next;
    }
    return directory;
  } catch (error) {
    directory[Symbol.dispose]();
    throw error;
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The unpacked bytes of a member. */
async function* contents(
  member: ZipMember,
  { archive, password }: { readonly archive: string; readonly password?: Uint8Array },
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  if (member.method !== 0 && member.method !== DEFLATED) {
    throw new CommandError(`'${member.name}' is compressed by a method that is not supported: ${member.method}`);
  }
  if (member.encrypted && password === undefined) {
    throw new CommandError(`File '${member.name}' is encrypted, password required for extraction`);
  }
  const packed = packedBytes(archive, member, password);
  if (member.method === 0) return yield* packed;
  yield* ReadableStream.from(packed).pipeThrough(new DecompressionStream("deflate-raw"));
}

const CHUNK = 1 << 16;
/** The local header of a member: its first word, and its bytes before the name. */
const LOCAL = 0x04034b50, HEADER_BYTES = 30;
/** Bytes before the data of an encrypted member. */
const CIPHER_HEADER = 12;

function* packedBytes(
  archive: string,
  member: ZipMember,
  password: Uint8Array | undefined,
): Generator<Uint8Array<ArrayBuffer>, void> {
  using file = Deno.openSync(archive);
  skipLocalHeader(file, member);
  const cipher = member.encrypted && password !== undefined ? new ZipCipher(password) : undefined;
  let skipped = cipher === undefined ? CIPHER_HEADER : 0;
  for (let left = member.compressedSize; left > 0;) {
    const chunk = new Uint8Array(Math.min(CHUNK, left));
    const read = file.readSync(chunk) ?? 0;
    if (read === 0) throw new CommandError(`File '${member.name}' is cut off`);
    left -= read;
    const bytes = chunk.subarray(0, read);
    cipher?.decrypt(bytes);
    const drop = Math.min(read, CIPHER_HEADER - skipped);
    if (drop > 0 && skipped + drop === CIPHER_HEADER && bytes[drop - 1] !== member.check && cipher !== undefined) {
      throw new CommandError(`Bad password for file '${member.name}'`);
    }
    skipped += drop;
    yield bytes.subarray(drop);
  }
}

/**
 * Passes over what is before the data.
 * @throws {CommandError} If it is not that of the member, or other data follow too early.
 */
function skipLocalHeader(file: Deno.FsFile, { name, rawName, offset, end, compressedSize }: ZipMember): void {
  file.seekSync(offset, Deno.SeekMode.Start);
  const header = new Uint8Array(HEADER_BYTES);
  if (readFully(file, header) < HEADER_BYTES) throw new CommandError("Truncated file header");
  const view = new DataView(header.buffer);
  if (view.getUint32(0, true) !== LOCAL) throw new CommandError("Bad magic number for file header");
  const [nameLength, extraLength] = [view.getUint16(26, true), view.getUint16(28, true)];
  const ownName = new Uint8Array(nameLength);
  readFully(file, ownName);
  if (ownName.toHex() !== rawName.toHex()) {
    throw new CommandError(`File name in directory ${repr(name)} and header ${repr(ownName)} differ.`);
  }
  file.seekSync(extraLength, Deno.SeekMode.Current);
  if (offset + HEADER_BYTES + nameLength + extraLength + compressedSize > end) {
    throw new CommandError(`Overlapped entries: ${repr(name)} (possible zip bomb)`);
  }
}

/**
 * Fills `bytes` as far as the file goes.
 * @returns Number of bytes.
 */
function readFully(file: Deno.FsFile, bytes: Uint8Array): number {
  let done = 0;
  while (done < bytes.length) {
    const read = file.readSync(bytes.subarray(done)) ?? 0;
    if (read === 0) break;
    done += read;
  }
  return done;
}

/** PKWARE's traditional encryption, which is weak and still in use. */
class ZipCipher {
  #keys = [0x12345678, 0x23456789, 0x34567890];

  constructor(password: Uint8Array) {
    for (const byte of password) this.#update(byte);
  }

  decrypt(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) {
      const mask = (this.#keys[2] | 2) & 0xffff;
      bytes[i] ^= ((mask * (mask ^ 1)) >>> 8) & 0xff;
      this.#update(bytes[i]);
    }
  }

  #update(byte: number): void {
    const [a, b, c] = this.#keys;
    const first = step(a, byte);
    const second = (Math.imul(b + (first & 0xff), 134_775_813) + 1) >>> 0;
    this.#keys = [first, second, step(c, second >>> 24)];
  }
}

/** One step of CRC-32 without its inversions. */
function step(crc: number, byte: number): number {
  return (crc32(Uint8Array.of(byte), ~crc >>> 0) ^ 0xffffffff) >>> 0;
}
