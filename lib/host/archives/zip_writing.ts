/**
 * Writes ZIP archives, deflated, with Unix modes. Sizes are those of 32 bits.
 * Source: PKWARE APPNOTE.TXT 6.3.
 * @module
 */

import { openToWrite } from "#lib/os/new_files.ts";
import { CommandError } from "#lib/errors.ts";
import { crc32 } from "#lib/values/crc32.ts";
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
}

const LIMIT = 2 ** 32 - 1;
const LOCAL = 0x04034b50, ENTRY = 0x02014b50, END = 0x06054b50;
/** Version 2.0 is needed to unpack; made by Unix. Names are UTF-8. */
const VERSION = 20, MADE_BY = 0x0314, UTF8_NAMES = 0x0800, DEFLATED = 8, STORED = 0;

/** Writes the archive `path`. @throws {CommandError} If it needs more than 32 bits for a size. */
export async function writeZip(path: string, entries: readonly ZipEntry[]): Promise<void> {
  using archive = openToWrite(path, { truncate: true });
  const written: Written[] = [];
  let offset = 0;
  for (const entry of entries) {
    const member = await writeMember(archive, entry, offset);
    written.push(member);
    offset += 30 + member.name.length + member.compressedSize;
    if (offset > LIMIT) throw new CommandError("Resulting zip file too large, would require ZIP64 support");
  }
  const directory = written.map(entryRecord);
  for (const record of directory) writeAll(archive, record);
  const length = directory.reduce((sum, record) => sum + record.length, 0);
  writeAll(
    archive,
    fields([[END, 4], [0, 4], [written.length, 2], [written.length, 2], [length, 4], [offset, 4], [0, 2]]),
  );
}

async function writeMember(archive: Deno.FsFile, { path, name }: ZipEntry, offset: number): Promise<Written> {
  const info = await Deno.stat(path);
  const member = {
    name: new TextEncoder().encode(info.isDirectory && !name.endsWith("/") ? `${name}/` : name),
    mode: info.mode ?? 0,
    directory: info.isDirectory,
    stamp: dosTime(info.mtime ?? new Date()),
    crc: 0,
    compressedSize: 0,
    size: 0,
    offset,
  };
  writeAll(archive, localHeader(member));
  if (info.isDirectory) return member;
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
  }
  if (size > LIMIT || compressedSize > LIMIT) {
    throw new CommandError("Resulting zip file too large, would require ZIP64 support");
  }
  const done = { ...member, crc, size, compressedSize };
  archive.seekSync(offset, Deno.SeekMode.Start);
  writeAll(archive, localHeader(done));
  archive.seekSync(0, Deno.SeekMode.End);
  return done;
}

function localHeader({ name, directory, stamp, crc, compressedSize, size }: Written): Uint8Array {
  return fields([
    [LOCAL, 4],
    [VERSION, 2],
    [UTF8_NAMES, 2],
    [directory ? STORED : DEFLATED, 2],
    [stamp, 4],
    [crc, 4],
    [compressedSize, 4],
    [size, 4],
    [name.length, 2],
    [0, 2],
  ], name);
}

function entryRecord({ name, mode, directory, stamp, crc, compressedSize, size, offset }: Written): Uint8Array {
  const dosDirectory = 0x10;
  return fields([
    [ENTRY, 4],
    [MADE_BY, 2],
    [VERSION, 2],
    [UTF8_NAMES, 2],
    [directory ? STORED : DEFLATED, 2],
    [stamp, 4],
    [crc, 4],
    [compressedSize, 4],
    [size, 4],
    [name.length, 2],
    [0, 2],
    [0, 2],
    [0, 2],
    [0, 2],
    [(mode * 0x10000 + (directory ? dosDirectory : 0)) >>> 0, 4],
    [offset, 4],
  ], name);
}

/** Numbers, each in so many bytes, the lowest byte first, and bytes behind them. */
function fields(
  numbers: readonly (readonly [value: number, bytes: 2 | 4])[],
  rest: Uint8Array = new Uint8Array(),
): Uint8Array {
  const length = numbers.reduce((sum, [, bytes]) => sum + bytes, 0);
  const record = new Uint8Array(length + rest.length);
  const view = new DataView(record.buffer);
  let at = 0;
  for (const [value, bytes] of numbers) {
    if (bytes === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += bytes;
  }
  record.set(rest, length);
  return record;
}

/** A local time as MS-DOS writes it: the time in the lower half, the date in the upper one. Before 1980 there is none. */
function dosTime(date: Date): number {
  const year = Math.max(0, date.getFullYear() - 1980);
  const day = (year << 9) | ((date.getMonth() + 1) << 5) | date.getDate();
  const time = (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1);
  return day * 0x10000 + time;
}
