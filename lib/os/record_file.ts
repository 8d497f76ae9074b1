/**
 * A file of records, one after the other, each after its length: four bytes, the highest first. A checked file has the
 * CRC-32 of the record behind the length, four bytes as well.
 *
 * Everything after the first incomplete record is ignored: a full disk or a killed process cuts a file anywhere, and a
 * power failure may leave zeros where bytes were to be. Knows nothing of what a record holds.
 * @module
 */

import { crc32 } from "#lib/values/crc32.ts";
import { writeAll } from "./write_all.ts";

/** How the records of a file are framed. */
export interface RecordForm {
  /** Whether each record has its CRC-32 in front: for a file that is read after a power failure. */
  readonly checked: boolean;
}

/** The contents of a file. */
export interface Records<T> {
  /** The records, in the order in which they were written. */
  readonly records: T[];
  /** Number of bytes of the complete records; the rest of the file is incomplete. */
  readonly bytes: number;
}

const LENGTH_BYTES = 4;
const CRC_BYTES = 4;

/** A record as it is in the file. */
export function frameRecord(record: Uint8Array, { checked }: RecordForm): Uint8Array {
  const header = LENGTH_BYTES + (checked ? CRC_BYTES : 0);
  const framed = new Uint8Array(header + record.length);
  const view = new DataView(framed.buffer);
  view.setUint32(0, record.length);
  if (checked) view.setUint32(LENGTH_BYTES, crc32(record));
  framed.set(record, header);
  return framed;
}

/**
 * Writes a framed record to the end of `file`, which is open for appending.
 * @throws What a write throws; a part of the record may be there then.
 */
export function appendFrame(file: Deno.FsFile, framed: Uint8Array): void {
  writeAll(file, framed);
}

/**
 * The records of a file, up to the first one that is not whole.
 * @param parse Makes a record of its bytes, which are a part of `file`; `undefined`: it is not whole.
 */
export function readRecords<T>(
  file: Uint8Array,
  { checked }: RecordForm,
  parse: (record: Uint8Array) => T | undefined,
): Records<T> {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const header = LENGTH_BYTES + (checked ? CRC_BYTES : 0);
  const records: T[] = [];
  let bytes = 0;
  while (bytes + header < file.length) {
    const end = bytes + header + view.getUint32(bytes);
    const record = file.subarray(bytes + header, end);
    // No record is empty: a length of zero is a hole that was never written.
    if (record.length === 0 || end > file.length) break;
    if (checked && crc32(record) !== view.getUint32(bytes + LENGTH_BYTES)) break;
    const parsed = parse(record);
    if (parsed === undefined) break;
    records.push(parsed);
    bytes = end;
  }
  return { records, bytes };
}
