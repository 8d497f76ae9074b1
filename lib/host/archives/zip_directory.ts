/**
 * The members of a ZIP archive, from its central directory.
 * Source: PKWARE APPNOTE.TXT 6.3.
 * @module
 */

/** One member. */
export interface ZipMember {
  readonly name: string;
  /** The Unix mode with the file's type; 0 if there is none. */
  readonly mode: number;
  readonly encrypted: boolean;
  /** The byte for checking the password. */
  readonly check: number;
  /** 0 for stored, 8 for deflated. */
  readonly method: number;
  readonly compressedSize: number;
  /** Bytes when unpacked. */
  readonly size: number;
  readonly crc: number;
  /** Where its local header begins. */
  readonly offset: number;
}

const END = 0x06054b50, END64 = 0x06064b50, LOCATOR64 = 0x07064b50, ENTRY = 0x02014b50;
/** Bytes of the end record without its comment, and the longest comment. */
const END_BYTES = 22, MAX_COMMENT = 65_535;
const ENTRY_BYTES = 46;
const BIG = 0xffffffff;
/** Maximum number of members; more is an attack on memory. */
const MAX_MEMBERS = 1_000_000;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** The members of the archive at `path`; `undefined` if it is none. */
export function readZipDirectory(path: string): ZipMember[] | undefined {
  using file = Deno.openSync(path);
  const { size } = file.statSync();
  const tail = readAt(file, Math.max(0, size - END_BYTES - MAX_COMMENT), END_BYTES + MAX_COMMENT);
  const at = findEnd(tail);
  if (at === undefined) return undefined;
  const view = viewOf(tail);
  let count = view.getUint16(at + 10, true),
    length = view.getUint32(at + 12, true),
    start = view.getUint32(at + 16, true);
  if (count === 0xffff || length === BIG || start === BIG) {
    const big = bigEnd(file, { tail, at });
    if (big !== undefined) ({ count, length, start } = big);
  }
  if (start + length > size || count > MAX_MEMBERS) return undefined;
  return readEntries(readAt(file, start, length));
}

function findEnd(tail: Uint8Array): number | undefined {
  const view = viewOf(tail);
  for (let at = tail.length - END_BYTES; at >= 0; at--) if (view.getUint32(at, true) === END) return at;
  return undefined;
}

function bigEnd(
  file: Deno.FsFile,
  { tail, at }: { readonly tail: Uint8Array; readonly at: number },
): { count: number; length: number; start: number } | undefined {
  const view = viewOf(tail);
  if (at < 20 || view.getUint32(at - 20, true) !== LOCATOR64) return undefined;
  const record = readAt(file, Number(view.getBigUint64(at - 20 + 8, true)), 56);
  if (record.length < 56 || viewOf(record).getUint32(0, true) !== END64) return undefined;
  const [count, length, start] = [32, 40, 48].map((place) => Number(viewOf(record).getBigUint64(place, true)));
  return { count, length, start };
}

function readEntries(directory: Uint8Array): ZipMember[] | undefined {
  const members: ZipMember[] = [];
  const view = viewOf(directory);
  for (let at = 0; at + ENTRY_BYTES <= directory.length;) {
    if (view.getUint32(at, true) !== ENTRY) return undefined;
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
    const extraAt = at + ENTRY_BYTES + nameLength;
    const sizes = {
      compressedSize: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    };
    members.push({
      name: utf8.decode(directory.subarray(at + ENTRY_BYTES, extraAt)),
      mode: view.getUint32(at + 38, true) >>> 16,
      encrypted: (view.getUint16(at + 8, true) & 1) !== 0,
      // The packer of a stream did not know the checksum yet, and used the time instead.
      check: (view.getUint16(at + 8, true) & 8) === 0 ? view.getUint8(at + 19) : view.getUint8(at + 13),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      ...withBigSizes(sizes, directory.subarray(extraAt, extraAt + extraLength)),
    });
    at = extraAt + extraLength + commentLength;
  }
  return members;
}

interface Sizes {
  readonly compressedSize: number;
  readonly size: number;
  readonly offset: number;
}

/** The sizes, with those from the extra field for 64 bits. */
function withBigSizes(sizes: Sizes, extra: Uint8Array): Sizes {
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    let place = at + 4;
    const next = (usual: number) => {
      if (usual !== BIG || place + 8 > extra.length) return usual;
      place += 8;
      return Number(view.getBigUint64(place - 8, true));
    };
    const size = next(sizes.size), compressedSize = next(sizes.compressedSize);
    return { size, compressedSize, offset: next(sizes.offset) };
  }
  return sizes;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Up to `length` bytes from `start` on. */
function readAt(file: Deno.FsFile, start: number, length: number): Uint8Array {
  file.seekSync(start, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  let done = 0;
  for (
    let got = file.readSync(bytes);
    got !== null && got > 0 && done < length;
    got = file.readSync(bytes.subarray(done))
  ) {
    done += got;
    if (done === length) break;
  }
  return bytes.subarray(0, done);
}
