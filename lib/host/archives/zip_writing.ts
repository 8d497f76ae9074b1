/**
 * Writes ZIP archives, deflated, with Unix modes, as Python's `zipfile` does: a size of more than 31 bits, or more than
 * 65,535 members, are written in the form for large archives (ZIP64), if the caller allows it. Source: PKWARE
 * APPNOTE.TXT 6.3; `zipfile.py` of Python 3.11 for the limits.
 * @module
 */

import { openToWrite } from "#lib/os/new_files.ts";
import { CommandError } from "#lib/errors.ts";
import { crc32 } from "#lib/values/crc32.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { writeAll } from "#lib/os/write_all.ts";

/** One file or directory to be packed. */
export interface ZipEntry {
  /** Its path on the disk. */
  readonly path: string;
  /** Its name in the archive. */
  readonly name: string;
}

interface Written {
  readonly name: Uint8Array;
  readonly mode: number;
  readonly directory: boolean;
  readonly stamp: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  readonly offset: number;
  /** Whether its local header has room for sizes of 64 bits. */
  readonly big: boolean;
  /** The largest size that is written in 32 bits. */
  readonly sizeLimit: number;
}

/** Options of an archive. */
export interface ZipOptions {
  /** Whether it may have the form for large archives. Default: false. */
  readonly zip64?: boolean;
  /** The largest size that needs no such form. Default: Python's, 2 GiB less a byte. */
  readonly sizeLimit?: number;
}

/** Python's limits; larger sizes and more members need ZIP64. */
const SIZE_LIMIT = 2 ** 31 - 1, COUNT_LIMIT = 0xffff;
/** As Python: a file may grow by so much when it is deflated. */
const GROWTH = 1.05;
/** A field that says: the value is in the extra field or record of 64 bits. */
const IN_EXTRA = 0xffffffff;
const LOCAL = 0x04034b50, ENTRY = 0x02014b50, END = 0x06054b50, END64 = 0x06064b50, LOCATOR64 = 0x07064b50;
/** The identifier of the extra field with sizes of 64 bits. */
const SIZES64 = 1;
/** Version 2.0 is needed to unpack, for ZIP64 4.5; made by Unix. Names are UTF-8. */
const VERSION = 20, VERSION64 = 45, UNIX = 0x0300, UTF8_NAMES = 0x0800, DEFLATED = 8, STORED = 0;

/** Throws Python's error for an archive that needs ZIP64. */
function refuse(what: string): never {
  throw new CommandError(`${what} would require ZIP64 extensions`);
}

/**
 * Writes the archive `path`.
 * @throws {CommandError} If it needs that form and may not have it.
 */
export async function writeZip(
  path: string,
  entries: readonly ZipEntry[],
  { zip64 = false, sizeLimit = SIZE_LIMIT }: ZipOptions = {},
): Promise<void> {
  using archive = openToWrite(path, { truncate: true });
  const written: Written[] = [];
  let offset = 0;
  for (const entry of entries) {
    if (!zip64 && written.length >= COUNT_LIMIT) refuse("Files count");
    if (!zip64 && offset > sizeLimit) refuse("Zipfile size");
    const member = await writeMember(archive, entry, { offset, zip64, sizeLimit });
    written.push(member);
    offset = archive.seekSync(0, Deno.SeekMode.End);
  }
  let length = 0;
  for (const member of written) {
    const record = entryRecord(member);
    writeAll(archive, record);
    length += record.length;
  }
  writeEnd(archive, { count: written.length, length, start: offset, zip64, sizeLimit });
}

function writeEnd(archive: Deno.FsFile, { count, length, start, zip64, sizeLimit }: Required<ZipOptions> & {
  readonly count: number;
  readonly length: number;
  readonly start: number;
}): void {
  const large = count > COUNT_LIMIT
    ? "Files count"
    : start > sizeLimit
    ? "Central directory offset"
    : length > sizeLimit
    ? "Central directory size"
    : undefined;
  if (large !== undefined) {
    if (!zip64) refuse(large);
    writeAll(
      archive,
      fields([
        [END64, 4],
        [44, 8],
        [VERSION64, 2],
        [VERSION64, 2],
        [0, 4],
        [0, 4],
        [count, 8],
        [count, 8],
        [length, 8],
        [start, 8],
      ]),
    );
    writeAll(archive, fields([[LOCATOR64, 4], [0, 4], [start + length, 8], [1, 4]]));
  }
  const entryCount = Math.min(count, COUNT_LIMIT);
  writeAll(
    archive,
    fields([
      [END, 4],
      [0, 4],
      [entryCount, 2],
      [entryCount, 2],
      [Math.min(length, IN_EXTRA), 4],
      [Math.min(start, IN_EXTRA), 4],
      [0, 2],
    ]),
  );
}

async function writeMember(
  archive: Deno.FsFile,
  { path, name }: ZipEntry,
  { offset, zip64, sizeLimit }: Required<ZipOptions> & { readonly offset: number },
): Promise<Written> {
  const info = await Deno.stat(path);
  const big = info.isFile && info.size * GROWTH > sizeLimit;
  if (big && !zip64) refuse("Filesize");
  const member = {
    name: new TextEncoder().encode(info.isDirectory && !name.endsWith("/") ? `${name}/` : name),
    mode: info.mode ?? 0,
    directory: info.isDirectory,
    stamp: dosTime(info.mtime ?? new Date()),
    crc: 0,
    compressedSize: 0,
    size: 0,
    offset,
    big,
    sizeLimit,
  };
  writeAll(archive, localHeader(member));
  if (info.isDirectory) return member;
  const done = { ...member, ...await deflate(path, archive, big ? Infinity : sizeLimit) };
  archive.seekSync(offset, Deno.SeekMode.Start);
  writeAll(archive, localHeader(done));
  return done;
}

/**
 * Writes the contents of a file, deflated.
 * @throws {CommandError} If they became too large for the local header.
 */
async function deflate(
  path: string,
  archive: Deno.FsFile,
  maxSize: number,
): Promise<Pick<Written, "crc" | "size" | "compressedSize">> {
  let crc = 0, size = 0, compressedSize = 0;
  using source = await Deno.open(path);
  const counted = source.readable.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        crc = crc32(chunk, crc);
        size += chunk.length;
        controller.enqueue(chunk);
      },
    }),
  );
  for await (const chunk of counted.pipeThrough(new CompressionStream("deflate-raw"))) {
    writeAll(archive, chunk);
    compressedSize += chunk.length;
    if (size > maxSize || compressedSize > maxSize) {
      throw new CommandError("File size unexpectedly exceeded ZIP64 limit");
    }
  }
  return { crc, size, compressedSize };
}

function localHeader({ name, directory, stamp, crc, compressedSize, size, big }: Written): Uint8Array {
  const extra = big ? fields([[SIZES64, 2], [16, 2], [size, 8], [compressedSize, 8]]) : new Uint8Array();
  return fields(
    [
      [LOCAL, 4],
      [big ? VERSION64 : VERSION, 2],
      [UTF8_NAMES, 2],
      [directory ? STORED : DEFLATED, 2],
      [stamp, 4],
      [crc, 4],
      [big ? IN_EXTRA : compressedSize, 4],
      [big ? IN_EXTRA : size, 4],
      [name.length, 2],
      [extra.length, 2],
    ],
    name,
    extra,
  );
}

function entryRecord(member: Written): Uint8Array {
  const { name, mode, directory, stamp, crc, compressedSize, size, offset, big, sizeLimit } = member;
  const dosDirectory = 0x10;
  const large = size > sizeLimit || compressedSize > sizeLimit, far = offset > sizeLimit;
  const values = [...large ? [size, compressedSize] : [], ...far ? [offset] : []];
  const extra = values.length === 0 ? new Uint8Array() : fields([
    [SIZES64, 2],
    [8 * values.length, 2],
    ...values.map((value) => [value, 8] as const),
  ]);
  const version = big || values.length > 0 ? VERSION64 : VERSION;
  return fields(
    [
      [ENTRY, 4],
      [UNIX | version, 2],
      [version, 2],
      [UTF8_NAMES, 2],
      [directory ? STORED : DEFLATED, 2],
      [stamp, 4],
      [crc, 4],
      [large ? IN_EXTRA : compressedSize, 4],
      [large ? IN_EXTRA : size, 4],
      [name.length, 2],
      [extra.length, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [(mode * 0x10000 + (directory ? dosDirectory : 0)) >>> 0, 4],
      [far ? IN_EXTRA : offset, 4],
    ],
    name,
    extra,
  );
}

/** Numbers, each in so many bytes, the lowest byte first, and bytes behind them. */
function fields(
  numbers: readonly (readonly [value: number, bytes: 2 | 4 | 8])[],
  ...rest: readonly Uint8Array[]
): Uint8Array {
  const record = new Uint8Array(numbers.reduce((sum, [, bytes]) => sum + bytes, 0));
  const view = new DataView(record.buffer);
  let at = 0;
  for (const [value, bytes] of numbers) {
    if (bytes === 2) view.setUint16(at, value, true);
    else if (bytes === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += bytes;
  }
  return joinBytes([record, ...rest]);
}

/**
 * A local time as MS-DOS writes it: the time in the lower half, the date in the upper one. Before 1980 there is none.
 */
function dosTime(date: Date): number {
  const year = Math.max(0, date.getFullYear() - 1980);
  const day = (year << 9) | ((date.getMonth() + 1) << 5) | date.getDate();
  const time = (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1);
  return day * 0x10000 + time;
}
