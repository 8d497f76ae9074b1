/**
 * The form of a journal's file: records one after the other, each with its length and its CRC-32 in front, four bytes each, the
 * highest first. Whatever comes behind the first record that is not whole does not count: a power failure cuts a file anywhere,
 * and may leave zeros where bytes were to be. Knows nothing of what a record holds.
 * @module
 */

import { crc32 } from "../values/crc32.ts";

const HEADER_BYTES = 8;

/** A record as it stands in the file. */
export function frameRecord(record: Uint8Array): Uint8Array {
  const framed = new Uint8Array(HEADER_BYTES + record.length);
  const view = new DataView(framed.buffer);
  view.setUint32(0, record.length);
  view.setUint32(4, crc32(record));
  framed.set(record, HEADER_BYTES);
  return framed;
}

/** The records of a file, as far as they are whole. */
export function readRecords(file: Uint8Array): Uint8Array[] {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const records: Uint8Array[] = [];
  for (let at = 0; at + HEADER_BYTES < file.length;) {
    const end = at + HEADER_BYTES + view.getUint32(at);
    const record = file.subarray(at + HEADER_BYTES, end);
    // No record is empty: a length of zero is a hole that was never written.
    if (record.length === 0 || end > file.length || crc32(record) !== view.getUint32(at + 4)) break;
    records.push(record);
    at = end;
  }
  return records;
}
